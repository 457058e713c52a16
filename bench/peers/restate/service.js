// The loan as a virtual object of Restate: one state per key, one handler at a time for each key. Restate itself
// answers a repeated idempotency key with the first answer.
import * as restate from "@restatedev/restate-sdk";
import { afterEvent, newLoan } from "../loan.js";

const loan = restate.object({
  name: "Loan",
  handlers: {
    async create(ctx) {
      const loan = newLoan();
      ctx.set("loan", loan);
      ctx.set("seq", 1);
      return { id: ctx.key, seq: 1, state: loan.state };
    },
    async event(ctx, event) {
      const before = await ctx.get("loan");
      if (before === null) throw new restate.TerminalError("no such loan", { errorCode: 404 });
      const loan = afterEvent(before, event);
      const seq = (await ctx.get("seq")) + 1;
      ctx.set("loan", loan);
      ctx.set("seq", seq);
      return { id: ctx.key, seq, state: loan.state };
    },
    read: restate.createObjectSharedHandler(async (ctx) => ({
      id: ctx.key,
      seq: await ctx.get("seq"),
      ...(await ctx.get("loan")),
    })),
  },
});

await restate.serve({ services: [loan], port: Number(process.env.BENCH_PORT) });
