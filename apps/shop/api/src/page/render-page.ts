import { html } from "hono/html";
import { formatEuros } from "@shop/database";
import type { Notice } from "./notice.js";
import type { Catalogue } from "./read-catalogue.js";
import { type Live, renderLive } from "./render-live.js";

export interface Page {
  readonly live: Live;
  readonly catalogue: Catalogue;
  readonly notice: Notice | undefined;
}

/** The whole page. Without its script it works all the same, and is up to date when it is loaded. */
export function renderPage({ live, catalogue, notice }: Page) {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>The shop and its jobs</title>
        <link rel="icon" href="/icon.svg" type="image/svg+xml" />
        <link rel="stylesheet" href="/style.css" />
        <script src="/live.js" type="module"></script>
      </head>
      <body>
        <header>
          <div>
            <h1>Kettle &amp; Bean</h1>
            <p>Each order and its three jobs are one transaction. A worker in another app does the jobs.</p>
          </div>
          <p id="connection" class="connection" role="status" hidden></p>
        </header>
        <main>
          ${notice === undefined ? "" : html`<p class="notice ${notice.tone}" role="status">${notice.text}</p>`}
          <section class="actions" aria-label="Actions">
            <form method="post" action="/orders/random"><button class="primary">Place a random order</button></form>
            <form method="post" action="/dead/redrive"><button>Redrive the dead</button></form>
            ${catalogue.depots.filter((depot) => !depot.isOpen).map((depot) => renderDepot(depot.name))} ${renderOrderForm(catalogue)}
          </section>
          <div id="live">${renderLive(live)}</div>
        </main>
      </body>
    </html>`;
}

function renderDepot(name: string) {
  return html`<form method="post" action="/depots/${encodeURIComponent(name)}/open"><button>Open the depot ${name}</button></form>`;
}

function renderOrderForm({ customers, products }: Catalogue) {
  return html` <form method="post" action="/orders" class="order">
    <label
      >Customer
      <select name="customerId">
        ${customers.map(({ id, name }) => html`<option value="${id}">${name}</option>`)}
      </select></label
    >
    <label
      >Product
      <select name="productId">
        ${products.map(
          ({ id, name, priceCents, stock }) =>
            html`<option value="${id}">${name}, ${formatEuros(priceCents)} (${stock.toLocaleString("en")} left)</option>`,
        )}
      </select></label
    >
    <label>Quantity <input name="quantity" type="number" min="1" max="100" value="1" required /></label>
    <button>Order this</button>
  </form>`;
}
