/** What a request would meet with now. */
export interface Explanation {
  /** The model name that was asked for. */
  model: string
  /** Every target that the name leads to for this request, those to be used in their order. */
  targets: ExplainedTarget[]
  /** The entries of combos that are not for this request, or that lead nowhere. */
  leftOut: LeftOut[]
  /** What the client would read at once, when no target is called. */
  error?: { status: number; code: string; message: string }
}

/** One target that a name leads to, and what would become of it. */
export interface ExplainedTarget {
  provider: string
  model: string
  connectionId: string
  /** The connection's name. */
  connection: string
  /**
   * `first`: called first; `next`: called, in this order, while those before fail; `beyond`: the attempts are used up before;
   * `last-resort`: called only because all are cooling, and it recovers first; `skipped`: not called.
   */
  use: 'first' | 'next' | 'beyond' | 'last-resort' | 'skipped'
  /** Why it stands here, or why it is skipped. */
  why: string
  /** The combos and providers that led here, each with its strategy: `pool:round-robin>inner:weighted`. */
  via?: string
}

/** An entry of a combo that is not for this request, or that leads nowhere. */
export interface LeftOut {
  combo: string
  model: string
  /** The first condition of its `when` that the request does not meet; `unreachable` where no active connection and no other name is behind it. */
  unmet: string
}
