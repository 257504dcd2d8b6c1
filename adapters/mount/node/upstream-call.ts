import type { Dispatcher } from 'undici'
import type { PendingAnswer, UpstreamAnswer } from '../../../src/index.ts'
import { answerOf, type RawHeaders } from './answer.ts'
import { ChunkQueue, type ChunkSource } from './chunk-queue.ts'
import { decodeBody } from './decode.ts'
import type { Lane } from './lane.ts'
import type { Lanes } from './lanes.ts'

const ignore = () => {}

/** What undici is asked for. */
export interface Request extends Dispatcher.DispatchOptions {
  origin: string
}

const BROKEN_OFF = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

type Controller = Dispatcher.DispatchController

/**
 * One call under way: undici's handler on one side, the pending answer and its body on the other.
 * A class, because one is made for each call and undici calls it for each chunk.
 */
export class UpstreamCallUnderWay implements Dispatcher.DispatchHandler, PendingAnswer, ChunkSource {
  readonly answer: Promise<UpstreamAnswer>
  private lane: Lane | undefined
  private readonly lanes: Lanes | undefined
  /** Until there is an answer: its body may be large, and streams are long. */
  private request: Request | undefined
  private readonly body = new ChunkQueue(this)
  private resolve: (answer: UpstreamAnswer) => void = ignore
  private reject: (error: Error) => void = ignore
  private controller: Controller | undefined
  private error: Error | undefined
  isOver = false

  /** Without `lanes` the call goes through somebody's dispatcher, and is paced as undici does it. */
  constructor(lanes?: Lanes, request?: Request) {
    this.lanes = lanes
    this.request = request
    this.lane = request && lanes?.take(request.origin)
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

  /** Calls, through this dispatcher or on a connection of its own. */
  start(request: Request, dispatcher?: Dispatcher): void {
    const line = dispatcher ?? this.lane?.client
    if (!this.isOver) line?.dispatch(request, this)
  }

  onRequestStart(controller: Controller): void {
    this.controller = controller
    if (this.error) controller.abort(this.error)
  }

  onResponseStart(_: Controller, status: number, headers: RawHeaders): void {
    this.request = undefined
    if (status < 200) return // informational
    try {
      const decoded = decodeBody(this.body, headers['content-encoding'])
      this.resolve(answerOf(status, headers, decoded ?? this.body, decoded !== undefined))
    } catch (error) {
      this.cancel(error)
    }
  }

  onResponseData(_: Controller, chunk: Uint8Array): void {
    this.body.push(chunk)
  }

  onResponseEnd(): void {
    if (this.isOver) return
    const broken = this.lane?.broken
    if (broken) {
      this.onResponseError(this.controller, broken)
      return
    }
    this.isOver = true
    this.lane?.free()
    this.body.end()
  }

  /** Once more, on a new connection, when an old one broke off at once without a word: it was closed before the call reached it. */
  onResponseError(_: Controller | undefined, error: NodeJS.ErrnoException): void {
    const { lane, lanes, request } = this
    const isStale = lane?.mayBeStale && !this.isOver && BROKEN_OFF.has(error.code ?? '')
    if (isStale && lanes && request) {
      lane.drop()
      this.lane = lanes.open(request.origin)
      this.lane.client.dispatch(request, this)
    } else this.fail(error)
  }

  cancel(reason?: unknown): void {
    this.fail(reason instanceof Error ? reason : new DOMException('The call was cancelled.', 'AbortError'))
  }

  hold(): void {
    if (this.lane) this.lane.hold()
    else this.controller?.pause()
  }

  release(): void {
    if (this.lane) this.lane.release()
    else this.controller?.resume()
  }

  private fail(error: Error): void {
    if (this.isOver) return
    this.isOver = true
    this.error = error
    this.reject(error)
    this.body.end(error)
    this.controller?.abort(error) // nothing happens to a call that undici has ended itself
    this.lane?.drop()
  }
}
