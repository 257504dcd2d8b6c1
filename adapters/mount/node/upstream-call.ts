import type { Dispatcher } from 'undici'
import type { ByteStream, PendingAnswer, UpstreamAnswer } from '../../../src/index.ts'
import { answerOf, type RawHeaders } from './answer.ts'
import { decodeBody } from './decode.ts'
import type { Lane } from './lane.ts'

/** With this many bytes that nobody has taken the upstream is held back; one read of at most 64 KiB may still come on top. */
const HIGH_WATER = 32 * 1024

/**
 * One call under way: undici's handler on one side, the pending answer and its body on the other.
 * A class, because one is made for each call and undici calls it for each chunk.
 */
export class UpstreamCallUnderWay implements Dispatcher.DispatchHandler, PendingAnswer, ByteStream {
  readonly answer: Promise<UpstreamAnswer>
  private readonly lane: Lane | undefined
  private resolve: (answer: UpstreamAnswer) => void = () => {}
  private reject: (error: unknown) => void = () => {}
  private controller: Dispatcher.DispatchController | undefined
  private chunks: Uint8Array[] = []
  private size = 0
  private isHeld = false
  private isOver = false
  private error: Error | undefined
  private wake: (() => void) | undefined

  /** Without a `lane` the call goes through somebody's dispatcher, and is paced as undici does it. */
  constructor(lane?: Lane) {
    this.lane = lane
    this.answer = new Promise((resolve, reject) => {
      this.resolve = resolve
      this.reject = reject
    })
    this.answer.catch(ignore) // whoever has cancelled may not look any more
  }

  static failed(error: Error): UpstreamCallUnderWay {
    const call = new UpstreamCallUnderWay()
    call.cancel(error)
    return call
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    if (this.error) controller.abort(this.error)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: RawHeaders): void {
    if (status < 200) return // informational
    try {
      const decoded = decodeBody(this, headers['content-encoding'])
      this.resolve(answerOf(status, headers, decoded ?? this, decoded !== undefined))
    } catch (error) {
      this.cancel(error)
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    this.chunks.push(chunk)
    this.size += chunk.length
    if (this.size >= HIGH_WATER && !this.isHeld) {
      this.isHeld = true
      if (this.lane) this.lane.hold()
      else controller.pause()
    }
    this.wake?.()
  }

  onResponseEnd(): void {
    if (this.isOver) return
    const broken = this.lane?.broken
    if (broken) {
      this.onResponseError(undefined, broken)
      return
    }
    this.isOver = true
    this.lane?.free()
    this.wake?.()
  }

  onResponseError(_: unknown, error: Error): void {
    if (this.isOver) return
    this.fail(error)
    this.lane?.drop()
  }

  /** All that has come since the last call, in one piece. */
  async next(): Promise<Uint8Array | undefined> {
    while (this.size === 0) {
      if (this.error) throw this.error
      if (this.isOver) return undefined
      await new Promise<void>((resolve) => {
        this.wake = resolve
      })
    }
    return this.take()
  }

  cancel(reason?: unknown): void {
    this.chunks = []
    this.size = 0
    if (this.isOver) return
    const error = reason instanceof Error ? reason : new DOMException('The call was cancelled.', 'AbortError')
    this.fail(error)
    this.controller?.abort(error)
    this.lane?.drop()
  }

  private take(): Uint8Array {
    const [first] = this.chunks
    const bytes = first && this.chunks.length === 1 ? first : Buffer.concat(this.chunks, this.size)
    this.chunks = []
    this.size = 0
    if (this.isHeld) this.goOn()
    return bytes
  }

  private goOn(): void {
    this.isHeld = false
    if (this.isOver) return // the connection may serve another call by now
    if (this.lane) this.lane.release()
    else this.controller?.resume()
  }

  private fail(error: Error): void {
    this.isOver = true
    this.error = error
    this.reject(error)
    this.wake?.()
  }
}

const ignore = () => {}
