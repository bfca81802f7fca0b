import { defineConfig } from "@queue/cli";
import { createQueue, job } from "@queue/core";

const queue = createQueue({ jobs: { "order.ship": job<{ orderId: string }>() } });

export const config = defineConfig({ url: "postgres://localhost/shop", queue });
