/**
 * The test pool puts one more proxy around a class's prototype for each object that it makes, so the thousandth
 * is a thousand times slower to call than the first. This keeps it at the first proxy; it does what all of them do.
 */
export function allowManyObjects(): void {
  const first = new WeakMap<object, object>();
  const { construct } = Reflect;
  const once = (target: Function, args: unknown[], newTarget = target): unknown => {
    if (newTarget.name === "Class") {
      const prototype = newTarget.prototype as object;
      const kept = first.get(newTarget) ?? prototype;
      first.set(newTarget, kept);
      newTarget.prototype = kept;
    }
    return construct(target, args, newTarget);
  };
  Reflect.construct = once as typeof construct;
}
