import type { Codec, CodecPart } from '../../codec/codec.ts'
import { encodeLimited } from '../../codec/encode.ts'
import { failureOfError, unreadableCredential } from '../../codec/failure.ts'
import type { FailedResponse, ReceivedResponse, WholeResponse } from '../../codec/response.ts'
import { redact, secretsOf } from '../../codec/secrets.ts'
import { type GatewayError, toGatewayError } from '../../errors.ts'
import type { StreamState, TokenUsage } from '../../formats/format.ts'
import type { UpstreamCall } from '../../lib/exchange.ts'
import { Scope } from '../../lib/scope.ts'
import type { Route } from '../../routing/group.ts'
import { ProviderCall } from '../../upstream/provider-call.ts'
import { type UpstreamRequest, upstreamCall } from '../../upstream/request.ts'
import { dearerMember } from '../../usage/cost.ts'
import type { AttemptLog } from '../attempt-log.ts'
import type { Answered, Failed, Outcome, Target } from '../outcome.ts'
import type { ModelRequest } from '../request.ts'
import { type AttemptStep, attemptWithin, type OutputAllowance, type SteppedAttempt } from '../steps.ts'
import { receive } from './receive.ts'
import { sideBySide } from './side-by-side.ts'

/**
 * A call to one target, which reports to the log of the request. Further calls that only leave out refused options, or that need a summary
 * first, belong to it.
 */
export class Attempt {
  readonly route: Route
  /** Ends when the client no longer waits, or another attempt was faster. */
  readonly #scope = new Scope()
  readonly #request: ModelRequest
  readonly #log: AttemptLog
  #codec: Codec | undefined // until it is made: what is sent may be large, and whoever has made it may refer to it for longer
  #call: ProviderCall | undefined = undefined
  #onCalled: () => void = () => {}
  #allowance: OutputAllowance | undefined = undefined
  #checkFollowUp: FollowUpCheck | undefined = undefined
  #hasBegun = false // its credential is at hand, and its provider is called next

  constructor(request: ModelRequest, target: Target, codec: Codec, { isHedge } = { isHedge: false }) {
    this.route = target.route
    this.#request = request
    this.#codec = codec
    this.#log = request.log.attempt(target, codec, { isHedge })
  }

  /** Makes the attempt. Failures are outcomes; rejects only when the client no longer waits, or another attempt was faster. */
  run(): Promise<Outcome> {
    const { context, log } = this.#request
    if (context.aroundAttempt.length === 0 && log.aroundAttempt.length === 0) return this.#run()
    return this.#runWithinSteps([...context.aroundAttempt, ...log.aroundAttempt])
  }

  /** Resolves when the provider is called. */
  called(): Promise<void> {
    if (this.#call) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onCalled = resolve
    })
  }

  /** It is not made after all. */
  drop(): void {
    this.#log.release()
  }

  /** Ends it, as another attempt was faster. */
  supersede(): void {
    if (this.#hasBegun) this.#log.superseded()
    this.#scope.end(SUPERSEDED)
  }

  /** The steps go on until the attempt has settled; its outcome is there before. */
  #runWithinSteps(steps: readonly AttemptStep[]): Promise<Outcome> {
    const { route } = this
    const request = this.#request
    const { scope } = request.client
    return new Promise((resolve, reject) => {
      scope.add(reject) // a step may wait for longer than the client
      let outputLimit: number | undefined
      let isOfRequest = false
      const attempt: SteppedAttempt = {
        request,
        target: route.target,
        limitOutput(tokens: number) {
          outputLimit = tokens
        },
        refuseRequest(error: GatewayError) {
          isOfRequest = true
          throw error
        },
        onSettled: (listener) => this.#log.onSettled(listener),
        allowOutput: (allowance: OutputAllowance) => {
          this.#allowance = allowance
        },
        beforeFollowUp: (check) => {
          this.#checkFollowUp = check
        },
      }
      void attemptWithin(steps, attempt, {
        make: () => {
          scope.remove(reject)
          const settled = this.#log.settled()
          const running = outputLimit === undefined ? this.#run() : this.#runLimited(outputLimit)
          running.then(resolve, reject)
          return settled
        },
        refuse: (error) => {
          scope.remove(reject)
          resolve({ kind: 'refused', route, error, isOfRequest })
          return this.#log.refused(error, { isOfRequest })
        },
        onError: request.context.observer.onError,
      })
    })
  }

  async #runLimited(outputLimit: number): Promise<Outcome> {
    try {
      this.#codec = await encodeLimited(this.#request, this.route.target, outputLimit)
    } catch (thrown) {
      const error = toGatewayError(thrown)
      this.#log.refused(error)
      return { kind: 'refused', route: this.route, error, isOfRequest: false }
    }
    return this.#run()
  }

  async #run(): Promise<Outcome> {
    const { client } = this.#request
    const codec = this.#codec
    this.#codec = undefined
    if (!codec) throw new TypeError('An attempt is made once.')
    const leave = (reason: unknown) => {
      if (client.gone && this.#hasBegun) this.#log.cancelled(client.gone) // at once, as the record of the request ends now and has to have it
      this.#scope.end(reason)
    }
    client.scope.add(leave)
    try {
      const prepared = await this.#prepare(codec.request)
      this.#unlessEnded()
      this.#hasBegun = true
      const outcome = 'kind' in prepared ? this.#failedOutcome(prepared) : await this.#outcomeOf(prepared, codec)
      this.#unlessEnded()
      if (outcome.kind === 'answered') this.#log.answered(outcome.response.kind, outcome.response.head.status)
      else this.#log.failed(outcome.failure, { sentStatus: outcome.head?.status, isEmpty: outcome.empty !== undefined })
      return outcome
    } catch (thrown) {
      this.#log.release()
      throw thrown
    } finally {
      client.scope.remove(leave)
    }
  }

  #unlessEnded(): void {
    if (this.#scope.hasEnded) throw this.#scope.reason
  }

  /** The outcome of a call, and of further ones that its response asks for. */
  async #outcomeOf(first: UpstreamCall, own: Codec): Promise<Answered | Failed> {
    let codec = own
    let call = first
    try {
      for (;;) {
        const response = codec.others
          ? await this.#receiveDivided(call, codec, codec.others)
          : await this.#receive(call, codec)
        const received = this.route.on && codec.isForClient ? await this.#judged(response, codec) : response
        if (received.kind !== 'stream') await this.#used(received, codec)
        const following = received.kind === 'stream' ? undefined : codec.followUp?.(received)
        const next = following && (await this.#scope.race(following))
        if (!next) {
          if (received.kind === 'failure' && !codec.isForClient) delete received.empty
          const reader = this.#isUnexpected(received, codec) ? await this.#unexpectedCodec(codec) : codec
          if (received.kind === 'failure') return await this.#readFailure(received, reader, call)
          return this.#answeredOutcome(received, reader, call)
        }
        if (this.#checkFollowUp) await this.#followUpChecked(this.#checkFollowUp)
        codec = next
        const prepared = await this.#prepare(codec.request)
        if ('kind' in prepared) return this.#failedOutcome(prepared)
        call = prepared
      }
    } catch (thrown) {
      return this.#failedOutcome(failedResponse(thrown))
    }
  }

  /** The response under what the combos on the way want of an answer. */
  async #judged(received: ReceivedResponse | FailedResponse, codec: Codec) {
    const { judged } = await import('./judge.ts')
    return judged(received, { request: this.#request, route: this.route, codec, log: this.#log })
  }

  /** Ends the request where the check of a further call rejects. */
  async #followUpChecked(check: FollowUpCheck): Promise<void> {
    try {
      await this.#scope.race(check(this.#log.spending))
    } catch (thrown) {
      if (!this.#scope.hasEnded) this.#request.client.cancel(thrown)
      throw thrown
    }
  }

  /** Counts what a response has used that has come whole. An answer whose provider reports nothing is estimated. */
  async #used(received: WholeResponse | FailedResponse, { answers }: Codec): Promise<void> {
    const usage = usageOf(received)
    const answer = received.kind === 'whole' ? received : received.empty
    if (usage || !answers.said || answer?.kind !== 'whole') return this.#log.used(usage)
    const { outputOf } = await this.#request.context.estimates.load()
    this.#log.estimated(undefined, outputOf(answer, answers))
  }

  /**
   * The call of a target with its credential, signed where a cloud wants that. A credential that cannot be decrypted is a failure of the
   * connection.
   */
  async #prepare(asked: UpstreamRequest): Promise<UpstreamCall | FailedResponse> {
    const { context } = this.#request
    const { target } = this.route
    const { cloud } = target
    const trace = this.#log.traceHeaders()
    const request = trace ? { ...asked, headers: { ...asked.headers, ...trace } } : asked
    let apiKey: string | undefined
    try {
      apiKey = await this.#scope.race(context.apiKeyOf(target.connection))
    } catch (thrown) {
      if (!this.#scope.hasEnded) context.observer.onError(thrown)
      return { kind: 'failure', failure: unreadableCredential }
    }
    try {
      if (!cloud) return upstreamCall(target, apiKey, request)
      return await this.#scope.race(context.cloudCall(request, { cloud, target, apiKey, fetch: context.fetch }))
    } catch (thrown) {
      return failedResponse(thrown)
    }
  }

  /** The responses to all calls of a divided request as one; the first failure is that of all, and ends the others. */
  #receiveDivided(
    first: UpstreamCall,
    codec: Codec,
    others: readonly CodecPart[],
  ): Promise<ReceivedResponse | FailedResponse> {
    const around = this.#scope
    return sideBySide(
      [codec, ...others],
      around,
      async (part, scope) => {
        const prepared = part === codec ? first : await this.#prepare(part.request)
        if ('kind' in prepared) return prepared
        return scope.hasEnded ? failedResponse(scope.reason) : this.#receive(prepared, { ...codec, ...part }, scope)
      },
      codec,
    )
  }

  async #receive(
    prepared: UpstreamCall,
    codec: Codec,
    scope = this.#scope,
  ): Promise<ReceivedResponse | FailedResponse> {
    const { context, call: modelCall } = this.#request
    const { fetch, clock, limits } = context
    this.#log.isDearer = dearerMember(modelCall.body) !== undefined
    const stream = codec.isForClient && (codec.replyType ? codec.streams === true : modelCall.stream)
    const call = new ProviderCall({ clock, limits, stream })
    scope.add((reason) => call.cancel(reason))
    this.#call ??= call
    const opening = call.open(prepared, fetch)
    if (codec.answers.said) this.#log.called(() => context.estimates.loaded?.inputOf(modelCall, this.route.target) ?? 0)
    if (!context.estimates.loaded) context.estimates.load().catch(context.observer.onError)
    this.#onCalled()
    const { format, operation, answers } = codec
    const onEvents = (state: StreamState) => this.#log.follows(state)
    const received = await receive(opening, call, { format, operation, answers, clock, limits, stream, onEvents })
    if (received.kind !== 'whole' || !codec.complete) return received
    return codec.complete(received, { call: prepared, scope, limits })
  }

  /** The outcome of a response that is a failure. */
  async #readFailure(received: FailedResponse, codec: Codec, call: UpstreamCall): Promise<Failed> {
    const { knownKeys } = this.#request.context
    const secrets = [...secretsOf(call), ...(await this.#scope.race(knownKeys.list()))]
    const failed = codec.readFailure(redact(received, { provider: this.route.target.provider, secrets }))
    const { empty } = failed
    return this.#failedOutcome(failed, empty && this.#answeredOutcome(empty, codec, call, { isRead: false }))
  }

  /** Is the response whole although the client asked for a stream, or in events although it did not? */
  #isUnexpected(received: ReceivedResponse | FailedResponse, codec: Codec): boolean {
    if (codec.replyType) return false // it writes either
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

  #answeredOutcome(
    response: ReceivedResponse,
    codec: Codec,
    call: UpstreamCall,
    { isRead } = { isRead: true },
  ): Answered {
    const bytes = isRead && response.kind === 'whole' ? codec.readWhole(response) : undefined
    const secrets = secretsOf(call) // later parts of the response may quote them, too
    const allowance = this.#allowance
    return { kind: 'answered', route: this.route, codec, response, bytes, secrets, allowance, log: this.#log }
  }

  #failedOutcome({ failure, head }: FailedResponse, empty?: Answered): Failed {
    return { kind: 'failed', route: this.route, failure, ...(head && { head }), ...(empty && { empty }) }
  }
}

type FollowUpCheck = Parameters<SteppedAttempt['beforeFollowUp']>[0]

/** The failure that an error stands for. */
const failedResponse = (thrown: unknown): FailedResponse => ({ kind: 'failure', failure: failureOfError(thrown) })

/** The usage of a response that has come whole, an empty one too. */
function usageOf(received: WholeResponse | FailedResponse): TokenUsage | undefined {
  if (received.kind === 'whole') return received.usage
  return received.usage ?? (received.empty?.kind === 'whole' ? received.empty.usage : undefined)
}

/** The reason by which a slower attempt ends; it is never reported. */
const SUPERSEDED = Symbol('superseded')
