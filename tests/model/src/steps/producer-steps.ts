import type { Item } from "../inputs.js";
import * as model from "../model.js";
import type { Step } from "../step.js";
import { type Kind, queue } from "../test-queue.js";

const delayMs = 3_600_000;

export function enqueue(items: readonly Item[]): Step {
  return {
    text: `enqueue ${items.map(itemText).join(" and ")}`,
    canWait: () => (items.length > 1 ? "for a rollback" : "for any end"),
    expect: (view) => model.enqueue(view, items),
    async perform({ executor }, names) {
      const [first, ...others] = items.map((item) => ({ kind: item.kind as Kind, payload: null, options: enqueueOptions(item) }));
      if (first === undefined) return [];
      const results =
        others.length > 0
          ? await queue.enqueueMany(executor, [first, ...others])
          : [await queue.enqueue(executor, first.kind, null, first.options)];
      return results.map(({ id, inserted }) => ({ job: inserted ? names.add(id) : names.nameOf(id), inserted }));
    },
  };
}

function itemText({ kind, lane, key, hold, isDelayed }: Item): string {
  return `${kind} in ${lane}${key === null ? "" : ` with key ${key} ${hold === "time" ? "for a day" : `until ${hold}`}`}${isDelayed ? " for later" : ""}`;
}

function enqueueOptions({ lane, key, hold, isDelayed }: Item) {
  const keyHolds = ({ time: "1d", started: "until-started", ended: "until-ended" } as const)[hold ?? "time"];
  return { lane, delay: isDelayed ? delayMs : 0, ...(key === null ? {} : { key, keyHolds }) };
}
