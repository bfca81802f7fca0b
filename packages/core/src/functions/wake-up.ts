import { quoteLiteral } from "../migrations/quote.js";
import { armBell, isBellSettled, muteBell } from "../store/arm-bell.js";
import { notificationChannel } from "../store/notification-channel.js";
import { embedStatement } from "./embed-statement.js";
import type { SqlFunction } from "./sql-function.js";

/** As in TypeScript: a worker with more lanes is rung for all. */
const mostLanes = 100;

/** What a worker listens to, and how it says that it wants to be rung for. All but the first belong on the connection that listens. */
export function wakeUpFunctions(schema: string): readonly SqlFunction[] {
  return [
    {
      name: "wake_up_channel",
      parameters: [],
      returns: "text",
      isPure: true,
      body: `
begin
  return ${quoteLiteral(notificationChannel(schema))};
end`,
    },
    {
      name: "arm_bell",
      parameters: [["lanes", "text[]", "null"]],
      returns: "text",
      body: `
declare
  given_lanes text := case when pg_catalog.cardinality(arm_bell.lanes) <= ${mostLanes} then arm_bell.lanes::text else '{}' end;
  bell record;
  muted record;
begin
  for bell in
    ${embedStatement(armBell(schema), { lanes: "given_lanes" })}
  loop
    if bell.xid is null then
      for muted in ${embedStatement(muteBell(schema), {})} loop
        null;
      end loop;
    end if;
    return bell.xid;
  end loop;
end`,
    },
    {
      name: "is_bell_settled",
      parameters: [["xid", "text"]],
      returns: "boolean",
      body: `
declare
  given_xid text := is_bell_settled.xid;
  bell record;
begin
  for bell in ${embedStatement(isBellSettled(schema), { xid: "given_xid" })} loop
    return bell.settled = 1;
  end loop;
end`,
    },
    {
      name: "mute_bell",
      parameters: [],
      returns: "boolean",
      body: `
declare
  muted record;
begin
  for muted in ${embedStatement(muteBell(schema), {})} loop
    return true;
  end loop;
end`,
    },
  ];
}
