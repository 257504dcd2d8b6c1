import { gatewayError } from '../../errors.ts'
import type { UpstreamCall } from '../../lib/exchange.ts'
import type { Route } from '../../routing/group.ts'
import { ProviderCall } from '../../upstream/call.ts'
import { upstreamCall } from '../../upstream/request.ts'
import type { Cancellable } from '../client.ts'
import { failureOfError, unreadableCredential } from '../failure.ts'
import type { AttemptLog } from '../log.ts'
import { redact, secretsOf } from '../secrets.ts'
import type {
  Answered,
  Codec,
  Failed,
  FailedResponse,
  ModelRequest,
  Outcome,
  ReceivedResponse,
  Target,
} from '../types.ts'
import { receive } from './receive.ts'

/**
 * A call to one target, which reports to the log of the request. Further calls that only leave out refused options, or that need a summary
 * first, belong to it.
 */
export class Attempt implements Cancellable {
  readonly route: Route
  /** Failures are outcomes; rejects only when the client no longer waits, or another attempt was faster. */
  readonly outcome: Promise<Outcome>
  readonly #request: ModelRequest
  readonly #target: Target
  readonly #log: AttemptLog
  #call: ProviderCall | undefined = undefined
  #onCalled: () => void = () => {}
  #rejectWait: ((reason: unknown) => void) | undefined = undefined
  #isCalled = false
  #isSuperseded = false

  constructor(request: ModelRequest, target: Target) {
    this.route = target.route
    this.#request = request
    this.#target = target
    this.#log = request.log.attempt(target, request)
    const { aroundAttempt } = request.context
    const run = aroundAttempt.reduceRight<() => Promise<Outcome>>(
      (next, step) => () => step({ request, target }, next),
      () => this.#run(),
    )
    this.outcome = run()
  }

  /** Resolves when the call is made. */
  called(): Promise<void> {
    if (this.#call) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onCalled = resolve
    })
  }

  cancel(reason: unknown): void {
    const { gone } = this.#request.client
    if (gone && this.#isCalled) this.#log.cancelled(gone) // at once, as the record of the request ends now and must contain it
    this.#rejectWait?.(reason)
    this.#call?.cancel(reason)
  }

  /** Cancels it, as another attempt was faster. */
  supersede(): void {
    this.#isSuperseded = true
    if (!this.#isCalled) return // it has not called the provider, and will not
    this.#call?.cancel(SUPERSEDED)
    this.#log.superseded()
  }

  async #run(): Promise<Outcome> {
    const log = this.#log
    const { client } = this.#request
    let isAnswered = false
    try {
      const prepared = await this.#prepare(this.#target.codec)
      const end = client.gone ?? (this.#isSuperseded ? SUPERSEDED : undefined)
      if (end) {
        this.#target.permit.dropped()
        throw end
      }
      this.#isCalled = true
      const outcome = 'kind' in prepared ? this.#failed(prepared) : await this.#outcomeOf(prepared)
      if (this.#isSuperseded) throw SUPERSEDED
      if (client.gone) {
        log.cancelled(client.gone)
        throw client.gone
      }
      if (outcome.kind === 'answered') log.answered(outcome.response.kind, outcome.response.head.status)
      else log.failed(outcome.failure, { sentStatus: outcome.head?.status, isEmpty: outcome.empty !== undefined })
      isAnswered = outcome.kind === 'answered'
      return outcome
    } finally {
      if (!isAnswered) log.released()
    }
  }

  /** The outcome of a call, and of further ones that its response asks for. */
  async #outcomeOf(first: UpstreamCall): Promise<Outcome> {
    let { codec } = this.#target
    let call = first
    let corrections = 0
    try {
      for (;;) {
        const received = await this.#receive(call, codec)
        const mayGoOn = codec.next !== undefined || codec.withoutRefused !== undefined
        const next = mayGoOn ? await this.#nextCodec(received, codec, corrections) : undefined
        if (!next) {
          if (received.kind === 'failure' && codec.next) delete received.empty // the response is not for the client
          const reader = this.#isUnexpected(received, codec) ? await this.#unexpectedCodec(codec) : codec
          if (received.kind === 'failure') return await this.#readFailure(received, reader, call)
          return this.#answered(received, reader, call)
        }
        if (received.kind === 'failure') corrections += 1
        codec = next
        const prepared = await this.#prepare(codec)
        if ('kind' in prepared) return this.#failed(prepared)
        call = prepared
      }
    } catch (thrown) {
      return this.#failed(failedBy(thrown))
    }
  }

  /** The codec of a further call, where the response asks for one. */
  async #nextCodec(
    received: ReceivedResponse | FailedResponse,
    { next, withoutRefused }: Codec,
    corrections: number,
  ): Promise<Codec | undefined> {
    if (received.kind === 'whole' && next) {
      const codec = await next(received)
      if (this.#isSuperseded || this.#request.client.gone) throw gatewayError('CLIENT_CLOSED_REQUEST')
      return codec
    }
    if (received.kind !== 'failure' || !withoutRefused || corrections === MAX_CORRECTIONS) return undefined
    const codec = await this.#unlessCancelled(withoutRefused(received))
    return this.#isSuperseded || this.#request.client.gone ? undefined : codec
  }

  /**
   * The call of a target with its credential, signed where a cloud wants that. A credential that cannot be decrypted is a failure of the
   * connection.
   */
  async #prepare({ request }: Codec): Promise<UpstreamCall | FailedResponse> {
    const { context, client } = this.#request
    const { target } = this.route
    const { cloud } = target
    let apiKey: string | undefined
    try {
      apiKey = await this.#unlessCancelled(context.apiKeyOf(target.connection))
    } catch (thrown) {
      if (!client.gone) context.observer.onError(thrown)
      return { kind: 'failure', failure: unreadableCredential }
    }
    try {
      if (!cloud) return upstreamCall(target, apiKey, request)
      return await this.#unlessCancelled(context.cloudCall(request, { cloud, target, apiKey, fetch: context.fetch }))
    } catch (thrown) {
      return failedBy(thrown)
    }
  }

  #receive(prepared: UpstreamCall, codec: Codec): Promise<ReceivedResponse | FailedResponse> {
    const { context, call } = this.#request
    const { fetch, clock, limits } = context
    const stream = call.stream && !codec.next
    this.#call = new ProviderCall(prepared, { fetch, clock, limits, stream })
    this.#onCalled()
    const { format, operation = call.endpoint.operation } = codec
    return receive(this.#call, { format, operation, clock, limits, stream })
  }

  /** The outcome of a response that is a failure. */
  async #readFailure(received: FailedResponse, codec: Codec, call: UpstreamCall): Promise<Failed> {
    const { knownKeys } = this.#request.context
    const secrets = [...secretsOf(call), ...(await this.#unlessCancelled(knownKeys.list()))]
    const failed = codec.readFailure(redact(received, { provider: this.route.target.provider, secrets }))
    const { empty } = failed
    return this.#failed(failed, empty && this.#answered(empty, codec, call, { isRead: false }))
  }

  /** Is the response whole although the client asked for a stream, or in events although it did not? */
  #isUnexpected(received: ReceivedResponse | FailedResponse, codec: Codec): boolean {
    if (this.#request.call.stream) return received.kind === 'whole'
    const response = received.kind === 'failure' ? received.empty : received
    return codec.isPassThrough && response?.kind === 'whole' && response.events !== undefined
  }

  /** The codec for a response that is unexpected in this way. */
  async #unexpectedCodec(codec: Codec): Promise<Codec> {
    const request = this.#request
    const { target } = this.route
    const translation = await request.context.translation()
    return request.call.stream
      ? translation.forWhole(request, target, codec)
      : translation.forEvents(request, target, codec)
  }

  #answered(response: ReceivedResponse, codec: Codec, call: UpstreamCall, { isRead } = { isRead: true }): Answered {
    const bytes = isRead && response.kind === 'whole' ? codec.readWhole(response) : undefined
    const secrets = secretsOf(call) // later parts of the response may quote them, too
    return { kind: 'answered', route: this.route, codec, response, bytes, secrets, log: this.#log }
  }

  #failed({ failure, head }: FailedResponse, empty?: Answered): Failed {
    return { kind: 'failed', route: this.route, failure, ...(head && { head }), ...(empty && { empty }) }
  }

  /** The result of the work; rejects when the attempt is cancelled first. */
  #unlessCancelled<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#rejectWait = reject
      work.then(resolve, reject)
    })
  }
}

/** The failure that an error stands for. */
const failedBy = (thrown: unknown): FailedResponse => ({ kind: 'failure', failure: failureOfError(thrown) })

/** How often one attempt leaves out a refused option: some targets name only one at a time. */
const MAX_CORRECTIONS = 3

/** The reason by which a slower attempt is cancelled; it is never reported. */
const SUPERSEDED = Symbol('superseded')
