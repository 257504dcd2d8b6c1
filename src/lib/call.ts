import { AnswerWith } from './answer-with.ts'
import { type ByteStream, NO_BYTES, type PendingAnswer, type UpstreamCall, type UpstreamFetch } from './exchange.ts'
import { FetchCall } from './fetch-call.ts'

/** Starts one call to a provider. Once it is cancelled, pending reads reject at once, even if a host's `fetch` ignores its signal. */
export function startCall(fetch: UpstreamFetch, call: UpstreamCall): PendingAnswer {
  return fetch.raw ? fetch.raw(call) : guarded(new FetchCall(fetch, call))
}

/** The call, whose pending reads reject as soon as it is cancelled, however late its client ends it. */
export const guarded = (pending: PendingAnswer): PendingAnswer => new GuardedCall(pending)

/** A guarded call, which is also the body of its answer. */
class GuardedCall implements PendingAnswer, ByteStream {
  readonly answer: PendingAnswer['answer']
  readonly #pending: PendingAnswer
  #cancelled: { reason: unknown } | undefined = undefined
  #rejectWait: ((reason: unknown) => void) | undefined = undefined
  #body: ByteStream = NO_BYTES // as long as there is no answer

  constructor(pending: PendingAnswer) {
    this.#pending = pending
    this.answer = this.#wait(pending.answer).then((answer) => {
      this.#body = answer.body
      return new AnswerWith(answer, this)
    })
  }

  next(): Promise<Uint8Array | undefined> {
    return this.#wait(this.#body.next())
  }

  whole(): Promise<Uint8Array> | undefined {
    const bytes = this.#body.whole?.()
    return bytes && this.#wait(bytes)
  }

  cancel(reason?: unknown): void {
    if (this.#cancelled) return
    this.#cancelled = { reason }
    this.#rejectWait?.(reason)
    this.#pending.cancel(reason)
  }

  /** The result of the work; rejects when the call is cancelled first. At most one chunk is waited for at a time. */
  #wait<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      if (this.#cancelled) reject(this.#cancelled.reason)
      this.#rejectWait = reject
      work.then((result) => {
        if (this.#rejectWait === reject) this.#rejectWait = undefined // its promise keeps the result
        resolve(result)
      }, reject)
    })
  }
}
