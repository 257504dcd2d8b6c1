import type { Dispatcher } from 'undici'
import type { PendingAnswer, UpstreamAnswer } from '../../../src/index.ts'
import { NodeAnswer, type RawHeaders } from './answer.ts'
import { ChunkQueue, type ChunkSource } from './chunk-queue.ts'
import { decodeBody } from './decode.ts'
import type { Lane } from './lane.ts'

const ignore = () => {}

type Controller = Dispatcher.DispatchController

/**
 * One call under way: undici's handler on one side, the pending answer and its body on the other.
 * A class, because one is made for each call and undici calls it for each chunk.
 */
export class UpstreamCallUnderWay implements Dispatcher.DispatchHandler, PendingAnswer, ChunkSource {
  readonly answer: Promise<UpstreamAnswer>
  readonly #lane: Lane | undefined
  readonly #body = new ChunkQueue(this)
  #resolve: (answer: UpstreamAnswer) => void = ignore
  #reject: (error: Error) => void = ignore
  #controller: Controller | undefined
  #error: Error | undefined
  isOver = false

  /** Without a `lane` the call goes through somebody's dispatcher, and is paced as undici does it. */
  constructor(lane?: Lane) {
    this.#lane = lane
    this.answer = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.answer.catch(ignore) // whoever has cancelled may not look any more
  }

  static failed(error: Error): UpstreamCallUnderWay {
    const call = new UpstreamCallUnderWay()
    call.cancel(error)
    return call
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#error) controller.abort(this.#error)
  }

  onResponseStart(_: Controller, status: number, headers: RawHeaders): void {
    if (status < 200) return // informational
    try {
      const decoded = decodeBody(this.#body, headers['content-encoding'])
      this.#resolve(new NodeAnswer(status, headers, decoded ?? this.#body, decoded !== undefined))
    } catch (error) {
      this.cancel(error)
    }
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.#body.push(chunk)
  }

  onResponseEnd(): void {
    if (this.isOver) return
    const broken = this.#lane?.broken
    if (broken) {
      this.onResponseError(this.#controller, broken)
      return
    }
    this.isOver = true
    this.#lane?.free()
    this.#body.end()
  }

  onResponseError(_: Controller | undefined, error: Error): void {
    this.#fail(error)
  }

  cancel(reason?: unknown): void {
    if (this.isOver) return // most translated streams are cancelled after their end, and an error costs its stack trace
    this.#fail(reason instanceof Error ? reason : new DOMException('The call was cancelled.', 'AbortError'))
  }

  hold(): void {
    if (this.#lane) this.#lane.hold()
    else this.#controller?.pause()
  }

  release(): void {
    if (this.#lane) this.#lane.release()
    else this.#controller?.resume()
  }

  #fail(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.#error = error
    this.#reject(error)
    this.#body.end(error)
    this.#controller?.abort(error) // nothing happens to a call that undici has ended itself
    this.#lane?.drop()
  }
}
