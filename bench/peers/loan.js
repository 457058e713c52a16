// The loan of examples/loan as a developer writes it with XState by hand: guards and assignments are functions.
// Its timers are left out, since nothing here would ring them.
import { assign, initialTransition, setup, transition } from "xstate";

const decide = assign({
  decidedBy: ({ event }) => event.by,
  reason: ({ event }) => event.reason ?? null,
});

const machine = setup({
  guards: {
    amountIsAllowed: ({ event }) => event.amount >= 500 && event.amount <= 250_000,
    feeIsPaid: ({ event }) => event.amount >= 50,
    isComplete: ({ context }) => context.documents.length >= 2,
    isSmall: ({ context }) => context.amount <= 50_000,
  },
}).createMachine({
  id: "loan",
  initial: "collecting_info",
  context: {
    applicant: null,
    amount: 0,
    feePaid: 0,
    feeWaivedBy: null,
    documents: [],
    decidedBy: null,
    reason: null,
  },
  states: {
    collecting_info: {
      on: {
        SUBMIT_INFO: {
          guard: "amountIsAllowed",
          target: "awaiting_fee",
          actions: assign({
            applicant: ({ event }) => event.applicant,
            amount: ({ event }) => event.amount,
          }),
        },
      },
    },
    awaiting_fee: {
      on: {
        PAY_FEE: {
          guard: "feeIsPaid",
          target: "awaiting_documents",
          actions: assign({ feePaid: ({ event }) => event.amount }),
        },
        WAIVE_FEE: {
          target: "awaiting_documents",
          actions: assign({ feeWaivedBy: ({ event }) => event.by }),
        },
      },
    },
    awaiting_documents: {
      on: {
        ADD_DOCUMENT: {
          actions: assign({
            documents: ({ context, event }) => [...context.documents, event.name],
          }),
        },
        SUBMIT_DOCUMENTS: { guard: "isComplete", target: "in_review" },
      },
    },
    in_review: {
      on: {
        APPROVE: [
          { guard: "isSmall", target: "approved", actions: decide },
          { target: "second_review" },
        ],
        REJECT: { target: "rejected", actions: decide },
      },
    },
    second_review: {
      on: {
        APPROVE: { target: "approved", actions: decide },
        REJECT: { target: "rejected", actions: decide },
      },
    },
    approved: { type: "final" },
    rejected: { type: "final" },
  },
});

/** A new loan: `{state, context}`, plain JSON, as all that follows. */
export function newLoan() {
  const [{ value, context }] = initialTransition(machine);
  return { state: value, context };
}

/** The loan after an event as it comes over HTTP, `{type, payload?}`; the same one if it takes no part in it. */
export function afterEvent({ state, context }, { type, payload }) {
  const snapshot = machine.resolveState({ value: state, context });
  const [next] = transition(machine, snapshot, { ...payload, type });
  return { state: next.value, context: next.context };
}
