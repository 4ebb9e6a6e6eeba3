/** The compiler names this type where a method's type hides that a skipped call resolves to undefined. */
export interface SkippedCallResolvesToUndefined {
  /** How to mend it. */
  readonly remedy: "let the method return Promise<T | undefined>, or give the option onSkip: 'throw'";
}

/** The compiler names this type where a guarded method returns no promise. */
export interface GuardedMethodMustBeAsync {
  /** How to mend it. */
  readonly remedy: 'a call of a guarded method always returns a promise: make the method async';
}

/** The fault of the type of a guarded method; never if there is none, or if the type is `any`. */
export type GuardFault<Method, Skip> = 0 extends 1 & Method
  ? never
  : Method extends (...args: never[]) => infer Result
    ? unknown extends Result
      ? never
      : [Result] extends [PromiseLike<infer Value>]
        ? [Value] extends [never]
          ? never
          : undefined extends Value
            ? never
            : Skip extends 'throws'
              ? never
              : SkippedCallResolvesToUndefined
        : GuardedMethodMustBeAsync
    : never;

/**
 * A decorator of methods that return a promise. If skipped calls resolve to undefined, the compiler refuses a method whose
 * promise has no undefined. The second signature makes it a `MethodDecorator`, for `applyDecorators` of Nest.
 *
 * @typeParam Skip result of a skipped call: `undefined` is a value, `throws` an error
 */
export interface GuardDecorator<Skip extends 'undefined' | 'throws'> {
  <Method>(
    target: object,
    property: string | symbol,
    descriptor: TypedPropertyDescriptor<Method> & ([GuardFault<Method, Skip>] extends [never] ? never : unknown),
  ): GuardFault<Method, Skip>;
  <Method>(target: object, property: string | symbol, descriptor: TypedPropertyDescriptor<Method>): void;
}
