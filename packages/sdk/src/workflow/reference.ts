/** Marks references for the compiler. It does not exist at run time. */
declare const VALUE: unique symbol;

/** Stands for a value that is known only when the run gets there. */
export interface ReferenceTo<T> {
  readonly [VALUE]: T;
}

/**
 * Stands for a value that is known only when the run gets there: the input of the workflow, or the
 * output of an earlier step. Its fields are references too: `charge.output.receipt`. In a template
 * literal it becomes a part of the text. A field that is absent at run time is `null`.
 */
export type Reference<T> = ReferenceTo<T> & Fields<T>;

type Primitive = string | number | boolean | bigint | null | undefined;

/** What a function returns that returns nothing. */
export type Nothing = ReturnType<() => void>;

type IsAny<T> = 0 extends 1 & T ? true : false;

type Fields<T> =
  IsAny<T> extends true
    ? // biome-ignore lint/suspicious/noExplicitAny: a value of any type has fields of any type
      { readonly [name: string]: any }
    : [NonNullable<T>] extends [Primitive]
      ? unknown
      : NonNullable<T> extends readonly (infer Item)[]
        ? { readonly [index: number]: Reference<Item | Absent<T>> }
        : {
            readonly [K in keyof NonNullable<T>]-?: Reference<
              Present<NonNullable<T>[K]> | Absent<T>
            >;
          };

/** What is optional in TypeScript is `null` when it is absent. */
type Present<T> = undefined extends T ? Exclude<T, undefined> | null : T;

/** A field of a value that may be absent may be absent itself. */
type Absent<T> = null extends T ? null : undefined extends T ? null : never;

/** A value of this type, or one with references inside. */
export type Given<T> = ReferenceTo<T> | Written<T>;

type Written<T> = T extends Primitive
  ? T
  : T extends object
    ? { readonly [K in keyof T]: Given<T[K]> }
    : T;

/** An object of which each field may be a reference. The object itself may not be one. */
export type GivenFields<T> = unknown extends T
  ? Readonly<Record<string, unknown>> & NoReference
  : T extends object
    ? { readonly [K in keyof T]: Given<T[K]> } & NoReference
    : never;

interface NoReference {
  readonly [VALUE]?: never;
}

/** The type of a value once its references are replaced by what they stand for. */
export type Resolved<T> =
  T extends ReferenceTo<infer Value>
    ? Value
    : T extends Primitive
      ? T
      : T extends object
        ? { readonly [K in keyof T]: Resolved<T[K]> }
        : T;

/** A step of a workflow. Later steps refer to its output. */
export interface Step<Output = unknown> {
  /** Its `taskReferenceName` in the definition. */
  readonly name: string;
  /** What it returned. */
  readonly output: Reference<Output>;
  /** How it ended: `COMPLETED`, `COMPLETED_WITH_ERRORS` and so on. */
  readonly status: Reference<string>;
  /** Id of its task; null for steps without a task. */
  readonly taskId: Reference<string | null>;
}

/** Stands for a list of values, and each of its fields for the list of that field. */
export type Each<T> = ReferenceTo<readonly T[]> &
  ([NonNullable<T>] extends [Primitive | readonly unknown[]]
    ? unknown
    : { readonly [K in keyof NonNullable<T>]-?: ReferenceTo<readonly NonNullable<T>[K][]> });

/** A step for each element of a list. */
export interface MapStep<Output = unknown> extends Step<Readonly<Record<string, Output>>> {
  /**
   * What the tasks returned, in the order of the list. A field of it is the list of that field:
   * `small.outputs.url`. Without the elements whose task returned no such field.
   */
  readonly outputs: Each<Output>;
}

/**
 * A step, a reference, or an object of them, of a path that the run may not have taken: then they
 * are null.
 */
export type Perhaps<T> = T extends Step | ReferenceTo<unknown>
  ? PerhapsOne<T>
  : T extends Primitive | Nothing
    ? undefined
    : { readonly [K in keyof T]: PerhapsOne<T[K]> };

type PerhapsOne<T> =
  T extends MapStep<infer Output>
    ? MapStep<Output>
    : T extends Step<infer Output>
      ? Step<Output | null>
      : T extends ReferenceTo<infer Value>
        ? Reference<Value | null>
        : undefined;
