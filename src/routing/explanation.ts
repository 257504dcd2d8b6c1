import type { EntryParams } from '../types.ts'

/** How a request would be routed now (`POST /api/explain`). */
export interface Explanation {
  /** The model name of the request. */
  model: string
  /** All targets that the name leads to: first those that would be used, in their order. */
  targets: ExplainedTarget[]
  /** The entries of combos that are left out for this request. */
  leftOut: LeftOut[]
  /** The error that the client would get when no target can be called. */
  error?: { status: number; code: string; message: string }
}

/** One target that a name leads to, and how it would be used. */
export interface ExplainedTarget {
  provider: string
  model: string
  connectionId: string
  /** The connection's name. */
  connection: string
  /**
   * `first`: called first; `next`: called, in this order, when those before fail; `beyond`: not called, as the attempts are used up before;
   * `last-resort`: called although it is cooling, when no other is left; `skipped`: not called.
   */
  use: 'first' | 'next' | 'beyond' | 'last-resort' | 'skipped'
  /** The reason for its place, or why it is skipped. */
  why: string
  /** The parameters that entries of combos set in requests to this target. */
  params?: EntryParams
  /** The combos and providers that led here, each with its strategy: `pool:round-robin>inner:weighted`. */
  via?: string
}

/** An entry of a combo that is left out. */
export interface LeftOut {
  combo: string
  model: string
  /**
   * The first part of its `when` that the request does not meet; `unreachable` when its name leads to no active connection, alias or combo.
   */
  unmet: string
}
