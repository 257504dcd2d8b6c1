import { type ErrorCode, redactClientKeys, toGatewayError } from '../errors.ts'
import { type ByteStream, type Exchange, isByteStream, type Reply } from '../lib/exchange.ts'
import type { InFlight } from '../lib/in-flight.ts'
import { createRequestId } from '../lib/request-id.ts'
import type { Spending } from '../pricing/cost.ts'
import type { Choice } from '../protocols/formats/canonical/canonical-response.ts'
import type { ClientKey } from '../records/key-lookup.ts'
import type { ClientFormat, Clock, Kind } from '../types.ts'
import type { AttemptLog } from './attempt-log.ts'
import type { Caller } from './caller.ts'
import { FollowedStream } from './followed-stream.ts'
import type { RequestEnd, RequestRecord, ServedBy, StepRecord } from './hook-records.ts'
import { Client } from './request-client.ts'
import type { RequestEvents } from './request-events.ts'
import type { RouteTarget } from './routing/group.ts'
import type { AttemptStep, NameRule, TargetRule } from './steps.ts'

/** A route, as named by records and observers. */
export interface ServedRoute {
  /** Under the base path, with `{model}` in place of a model name: `/v1/chat/completions`. */
  readonly path: string
  /** The format of its errors. */
  readonly format: ClientFormat
  /** The operation; `kind` is absent for a route that calls no model. */
  readonly operation: { readonly name: string; readonly kind?: Kind }
  /** Whether requests can limit their output. */
  readonly limitsOutput?: true
}

/** The dependencies of a log. */
export interface LogContext {
  clock: Clock
  inFlight: InFlight
  events: RequestEvents
}

/** How a request ended. `reason` is its error's message. */
export interface RequestEnding {
  status: number
  /** The status that was sent, if the stream ended with a different one. */
  sentStatus?: number
  end: RequestEnd
  error?: ErrorCode
  reason?: string
}

/**
 * The log of one request to a recorded route, from its arrival to its last byte: its client, the rules and steps that features add to it, and
 * how it ended. `ModelLog` adds the facts about a model request.
 */
export class RequestLog {
  /** A UUID; IDs sort by the order in which requests arrived. */
  readonly id: string
  readonly client: Client
  readonly route: ServedRoute
  readonly method: string
  readonly path: string
  /** Epoch ms. */
  readonly startedAt: number
  /** Keeps the platform running for work that outlives the response. */
  readonly waitUntil: Exchange['waitUntil']
  /**
   * Functions to call before the steps around this request's model call, if there are any. They must be idempotent, because the first attempt does
   * the same: a reservation must exist even if a step replies without an attempt. A step around the request adds them.
   */
  readonly beforeCallSteps: Array<() => Promise<void>> = []
  /** Functions that reserve each charge, in US dollars, before it is recorded. Each rejects with the client's error if a limit doesn't allow it. */
  readonly beforeCharge: Array<(usd: number) => Promise<void>> = []
  /** The amount that the request's route has charged so far, in USD. */
  declare chargedUsd?: number
  /** Steps around this request's attempts only, inside the gateway's own; a step around the request or the call adds them. */
  readonly aroundAttempt: AttemptStep[] = []
  /** Rules for the targets that the request may use. All of them must allow a target. */
  readonly targetRules: TargetRule[] = []
  /** Rules for the names in the request's model list, and for the name of a model that a step replies for. All of them must allow a name. */
  readonly nameRules: NameRule[] = []
  /** Labels for the usage record, including the account's. Default: the account's. */
  tags: readonly string[] | undefined = undefined
  /** Functions that check whether a response is rejected. If it is, a combo with the condition `refused` tries its next target. */
  readonly responseChecks: Array<(choices: readonly Choice[]) => Promise<boolean>> = []
  /** Set to keep providers' error messages out of records, because they may quote the content. */
  omitsProviderMessages = false
  protected readonly events: RequestEvents
  readonly #clock: Clock
  readonly #onEnd: Array<(record: RequestRecord) => void> = []
  readonly #extensions: Array<() => Partial<RequestRecord>> = []
  readonly #reportingStreams: ByteStream[] = [] // the streams that call `reportEnd` themselves
  #servedBy: ServedBy | undefined = undefined
  #replyStream: ByteStream | undefined = undefined // the stream that the client gets
  readonly #reports = new Map<ByteStream, RequestEnding>()
  readonly #continuations = new Map<ByteStream, ByteStream>()
  #hasEnded = false
  #ending: (RequestEnding & { durationMs: number }) | undefined = undefined
  #record: RequestRecord | undefined = undefined

  constructor(exchange: Exchange, route: ServedRoute, { clock, inFlight, events }: LogContext) {
    this.client = new Client(exchange, this, { clock, inFlight })
    this.events = events
    this.#clock = clock
    this.route = route
    this.startedAt = clock.now()
    this.id = createRequestId(this.startedAt, crypto.randomUUID())
    this.method = exchange.method
    this.path = redactClientKeys(exchange.path)
    this.waitUntil = exchange.waitUntil
  }

  /** The caller, once it is known. */
  get caller(): Caller {
    return this.client.caller
  }

  /** The client's key, once it is known, even if it is paused. */
  get key(): ClientKey | undefined {
    return this.client.caller.key
  }

  /** The requested model, or `undefined` if the request couldn't be read, or calls no model. */
  get model(): string | undefined {
    return undefined
  }

  /** The end user that the client named. */
  get user(): string | undefined {
    return undefined
  }

  get streamed(): boolean {
    return false
  }

  /** Attempts that have an outcome, skipped targets, and excluded entries, in the order in which the request reached them. */
  get steps(): readonly StepRecord[] {
    return []
  }

  /** The attempts that have started. */
  get attempts(): readonly AttemptLog[] {
    return []
  }

  /** The target whose response the client gets. */
  get target(): RouteTarget | undefined {
    return undefined
  }

  /** The fields that translation has dropped so far. */
  get warnings(): readonly string[] {
    return []
  }

  /** Usage and cost of all attempts so far. */
  get spending(): Spending | undefined {
    return undefined
  }

  /** The source of the reply. A step that replies sets it. */
  get servedBy(): ServedBy {
    return this.#servedBy ?? (this.attempts.length > 0 ? 'provider' : 'gateway')
  }

  set servedBy(by: ServedBy) {
    this.#servedBy = by
  }

  /** How the request ended, or `undefined` while it is running. */
  get ending(): (RequestEnding & { durationMs: number }) | undefined {
    return this.#ending
  }

  /** The request's record, once it has ended. */
  get record(): RequestRecord {
    if (!this.#ending) throw new TypeError('The record is available only after the request has ended.')
    this.#record ??= this.createRecord(this.#ending)
    return this.#record
  }

  /** Adds the fields that `getFields` returns to the record when the request ends. */
  extendRecord(getFields: () => Partial<RequestRecord>): void {
    this.#extensions.push(getFields)
  }

  /** The fields that features add to the record. */
  get addedFields(): Partial<RequestRecord> {
    return Object.assign({}, ...this.#extensions.map((getFields) => getFields()))
  }

  /** Calls `listener` with the record when the request is over, before the event listeners. */
  onEnd(listener: (record: RequestRecord) => void): void {
    this.#onEnd.push(listener)
  }

  /** Takes the reply for the client. The request ends with its last byte. Returns the reply with a body that reports its end. */
  reply(reply: Reply): Reply {
    const { body, status } = reply
    if (!isByteStream(body)) {
      this.end(this.createEnding(status))
      return reply
    }
    const followedStream = this.follow(body, status)
    if (followedStream !== body) this.client.stopTimeout()
    this.#replyStream = followedStream
    this.#endIfReported()
    return followedStream === body ? reply : { ...reply, body: followedStream }
  }

  /** Registers a stream that calls `reportEnd` itself: a provider's, or one that starts before there is a response. */
  expectReport(stream: ByteStream): void {
    this.#reportingStreams.push(stream)
  }

  isReporting(stream: ByteStream): boolean {
    return this.#reportingStreams.includes(stream)
  }

  /** Returns the stream in a form that reports its end. */
  follow(stream: ByteStream, status: number): ByteStream {
    return this.isReporting(stream) ? stream : new FollowedStream(stream, this, status)
  }

  /** Records that `laterStream` continues a stream that started before there was a response. The end of `laterStream` is the one that counts. */
  continueWith(earlyStream: ByteStream, laterStream: ByteStream): void {
    this.#continuations.set(earlyStream, laterStream)
    this.#endIfReported()
  }

  /** Records that a stream has ended. If it is the client's, the request also ends. */
  reportEnd(stream: ByteStream, ending: RequestEnding): void {
    if (!this.#reports.has(stream)) this.#reports.set(stream, ending)
    this.#endIfReported()
  }

  /** How a provider's stream was cut off, if it was. A step that forwards the stream may not have noticed. */
  get brokenStream(): RequestEnding | undefined {
    const lastReport = [...this.#reports.values()].at(-1)
    return lastReport?.end === 'cut' ? lastReport : undefined
  }

  #endIfReported(): void {
    const stream = this.#replyStream && (this.#continuations.get(this.#replyStream) ?? this.#replyStream)
    const ending = stream && this.#reports.get(stream)
    if (ending) this.end(ending)
  }

  /** Creates the ending for a request whose reply isn't a stream. */
  createEnding(status: number): RequestEnding {
    return { status, end: this.target || status < 400 ? 'complete' : 'failed' }
  }

  /** Creates the ending for a request that fails with a gateway error. */
  createErrorEnding(error: unknown): RequestEnding {
    const { code, status, message } = toGatewayError(error)
    const isRejection = this.attempts.length === 0 && code !== 'INTERNAL'
    const end = code === 'CLIENT_CLOSED_REQUEST' ? 'aborted' : isRejection ? 'refused' : 'failed'
    return { status, end, error: code, reason: message }
  }

  /**
   * Ends the request: releases its client and any targets that it still holds, and reports the outcome. Every request ends here. Only the first
   * call counts.
   */
  end(ending: RequestEnding): void {
    if (this.#hasEnded) return
    this.#hasEnded = true
    this.client.release()
    this.release()
    this.#ending = Object.assign(ending, { durationMs: this.#clock.now() - this.startedAt })
    for (const listener of this.#onEnd) this.events.call(() => listener(this.record), this)
    this.events.emit('ended', this)
  }

  /** Calls a listener, and reports its error. */
  call(listener: () => unknown): void {
    this.events.call(listener, this)
  }

  /** Awaits work that outlives the response, and reports its error. */
  waitFor(work: Promise<unknown>): void {
    this.events.waitFor(work, this)
  }

  reportError(error: unknown): void {
    this.events.reportError(error)
  }

  /** Releases everything held for the request. */
  protected release(): void {}

  protected createRecord({
    status,
    sentStatus,
    end,
    error,
    durationMs,
  }: RequestEnding & { durationMs: number }): RequestRecord {
    const record: RequestRecord = {
      id: this.id,
      path: this.path,
      startedAt: this.startedAt,
      durationMs,
      status,
      end,
      servedBy: this.servedBy,
      streamed: this.streamed,
      attempts: [],
    }
    Object.assign(record, this.addedFields)
    if (this.chargedUsd !== undefined) record.costUsd = record.chargedUsd = this.chargedUsd
    if (sentStatus !== undefined) record.sentStatus = sentStatus
    if (error) record.error = error
    if (this.key) record.keyId = this.key.id
    if (this.key?.group) record.groupId = this.key.group.id
    const { account } = this.caller
    if (account) {
      record.account = account.id
      record.accountRef = account.ref
    }
    return record
  }
}
