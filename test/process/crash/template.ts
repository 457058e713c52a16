export const assign = (context: object) => ({ type: "@xstate.assign", context });

export const value = (expression: string) => ({ "@expr": expression });
