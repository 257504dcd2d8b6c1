import { type GatewayError, isGatewayError, toGatewayError } from '../../errors.ts'
import type { UpstreamCall } from '../../lib/exchange.ts'
import { getSettledValue, once } from '../../lib/promises.ts'
import { Scope } from '../../lib/scope.ts'
import { findSurcharge } from '../../pricing/surcharge-fields.ts'
import { isBlankUsage } from '../../protocols/formats/canonical/reported-usage.ts'
import { loadErrorReaders } from '../../protocols/formats/errors/load-error-readers.ts'
import type { StreamState, TokenUsage } from '../../protocols/formats/format.ts'
import { type AttemptLog, lacksInput } from '../attempt-log.ts'
import type { Codec, CodecPart, CodecRequest } from '../codec/codec.ts'
import { encodeRequest } from '../codec/encode.ts'
import type { BufferedResponse, FailedResponse, ReceivedResponse } from '../codec/response.ts'
import { getSecrets } from '../codec/secrets.ts'
import type { ModelRequest } from '../model-request.ts'
import type { AnsweredAttempt, FailedAttempt, Outcome, RejectedAttempt, Target } from '../outcome.ts'
import type { Route } from '../routing/group.ts'
import { type AttemptStep, encodeWithin } from '../steps.ts'
import { ProviderCall } from '../upstream/provider-call.ts'
import type { CredentialUse, SourcedCredentials } from '../upstream/sourced-credentials.ts'
import { createUpstreamCall, type UpstreamRequest } from '../upstream/upstream-request.ts'
import type { AttemptSettings } from './attempt-settings.ts'
import { loadFailedCalls } from './read-response.ts'
import { loadReceiveStream, receive } from './receive.ts'

/** An attempt at one target, reported to the request's log. It can take several calls, such as one for a summary and one for the response. */
export class Attempt {
  readonly route: Route
  /** Ends when the client stops waiting or another attempt is faster. */
  readonly #scope = new Scope()
  readonly #request: ModelRequest
  readonly #log: AttemptLog
  readonly #onStart: () => void
  #settings: AttemptSettings | undefined = undefined
  #call: ProviderCall | undefined = undefined
  /** The credentials from functions, if the target's connection uses one. */
  #credentialFunctions: SourcedCredentials | undefined = undefined
  #apiKey: string | undefined = undefined
  #hasRenewed = false
  #onCalled: () => void = () => {}
  #hasStarted = false // whether the credential is available and the provider is called next

  /** Creates an attempt. `onStart` is called once neither a step nor the target's format has rejected the request. */
  constructor(request: ModelRequest, target: Target, { isHedge, onStart }: { isHedge: boolean; onStart(): void }) {
    this.route = target.route
    this.#request = request
    this.#onStart = onStart
    this.#log = request.log.startAttempt(target, { isHedge })
  }

  /** Makes the attempt. Resolves even if the call fails. Rejects if the client stops waiting, another attempt wins, or the gateway fails. */
  run(): Promise<Outcome> {
    const { context, log } = this.#request
    const steps = [...context.aroundAttempt, ...log.aroundAttempt]
    return steps.length === 0 ? this.#execute() : this.#runWithSteps(steps)
  }

  /** Resolves when the provider is called. */
  waitForCall(): Promise<void> {
    if (this.#call) return Promise.resolve()
    return new Promise((resolve) => {
      this.#onCalled = resolve
    })
  }

  /** Releases an attempt that won't be made. */
  drop(): void {
    this.#log.release()
  }

  /** Ends the attempt because another one was faster. */
  supersede(): void {
    if (this.#hasStarted) this.#log.recordHedgeLoss()
    this.#scope.end(SUPERSEDED_REASON)
  }

  async #runWithSteps(steps: readonly AttemptStep[]): Promise<Outcome> {
    const request = this.#request
    const { scope } = request.client
    const loading = loadAttemptSettings()
    const { AttemptSettings } = getSettledValue(loading) ?? (await loading)
    const settings = new AttemptSettings(request, this.route.target, this.#log)
    this.#settings = settings
    try {
      await scope.race(settings.runSteps(steps))
    } catch (error) {
      if (scope.hasEnded) throw error
      if (!isGatewayError(error)) request.context.onError(error)
      return this.#reject(toGatewayError(error), settings.rejectsRequest ? 'request' : 'target')
    }
    return this.#execute()
  }

  /** Ends the attempt without calling the provider. */
  #reject(error: GatewayError, scope: RejectedAttempt['scope']): RejectedAttempt {
    this.#log.recordRejection(error, scope)
    return { kind: 'rejected', route: this.route, error, scope }
  }

  async #execute(): Promise<Outcome> {
    const { client } = this.#request
    const stop = (reason: unknown) => {
      if (client.goneReason && this.#hasStarted) this.#log.recordCancel(client.goneReason) // immediately, because the request's record ends now and must include the attempt
      this.#scope.end(reason)
    }
    client.scope.add(stop)
    try {
      const codec = await this.#encode()
      if ('scope' in codec) return codec
      this.#onStart()
      this.#log.recordStart(codec)
      const prepared = await this.#prepare(codec.request)
      this.#throwIfEnded()
      this.#hasStarted = true
      const outcome = 'kind' in prepared ? this.#createFailedOutcome(prepared) : await this.#runCalls(prepared, codec)
      if (outcome.kind !== 'answered') await loadFailedCalls()
      this.#throwIfEnded()
      if (outcome.kind === 'answered') this.#log.recordResponse(outcome.response.kind, outcome.response.head.status)
      else
        this.#log.recordFailure(outcome.failure, {
          sentStatus: outcome.head?.status,
          isEmpty: outcome.unusedAttempt !== undefined,
          isOwnCredential: this.#credentialFunctions?.belongsToCaller(this.#credentialUse) === true,
        })
      return outcome
    } catch (error) {
      this.#log.release()
      throw error
    } finally {
      client.scope.remove(stop)
    }
  }

  /** Writes the request for the target. Skips a target whose format doesn't support the request, or that a step rejects at this point. */
  async #encode(): Promise<Codec | RejectedAttempt> {
    const request = this.#request
    const { target } = this.route
    let codec: Codec
    try {
      const encode = (codecRequest: CodecRequest) =>
        this.#settings?.encode(codecRequest, target) ?? encodeRequest(codecRequest, target)
      codec = await encodeWithin(request.context.aroundEncode, { request, route: this.route, log: this.#log }, encode)
    } catch (error) {
      this.#throwIfEnded()
      const isUnsuitable = isGatewayError(error, 'INVALID_REQUEST') || isGatewayError(error, 'FORMAT_MISMATCH')
      if (isUnsuitable) return this.#reject(error, 'format')
      throw error
    }
    this.#throwIfEnded()
    try {
      this.#settings?.check(codec)
      return codec
    } catch (error) {
      return this.#reject(toGatewayError(error), 'target')
    }
  }

  #throwIfEnded(): void {
    if (this.#scope.hasEnded) throw this.#scope.reason
  }

  /** Returns the outcome of a call and of any further calls that its response requires. */
  async #runCalls(firstCall: UpstreamCall, firstCodec: Codec): Promise<AnsweredAttempt | FailedAttempt> {
    let codec = firstCodec
    let call = firstCall
    try {
      for (;;) {
        const response = codec.otherParts
          ? await this.#receiveParts(call, codec, codec.otherParts)
          : await this.#receive(call, codec)
        const renewed = this.#credentialFunctions && (await this.#renewCall(this.#credentialFunctions, response, codec))
        if (renewed) {
          call = renewed
          continue
        }
        const received = this.route.on && codec.isForClient ? await this.#judge(response, codec) : response
        if (received.kind !== 'stream') {
          const usage = getUsage(received)
          if (usage && !isBlankUsage(usage)) {
            if (lacksInput(usage)) await this.#request.context.estimates.load()
            this.#log.recordUsage(usage)
          } else await this.#estimate(received, codec)
        }
        const followUpPromise = received.kind === 'stream' ? undefined : codec.followUp?.(received)
        const nextCodec = followUpPromise && (await this.#scope.race(followUpPromise))
        if (!nextCodec) {
          if (received.kind === 'failure' && !codec.isForClient) delete received.unusedResponse
          const responseCodec = this.#isUnexpected(received, codec) ? await this.#adaptCodec(codec) : codec
          if (received.kind === 'failure') return await this.#readFailure(received, responseCodec, call)
          return this.#createAnsweredOutcome(received, responseCodec, call)
        }
        for (const check of this.#settings?.followUpChecks ?? []) await this.#checkFollowUp(check)
        codec = nextCodec
        const prepared = await this.#prepare(codec.request)
        if ('kind' in prepared) return this.#createFailedOutcome(prepared)
        call = prepared
      }
    } catch (error) {
      return this.#createFailedOutcome(await createFailedResponse(error))
    }
  }

  /** Applies the response conditions of the combos that led to the target. */
  async #judge(received: ReceivedResponse | FailedResponse, codec: Codec) {
    const [{ judgeResponse }] = await Promise.all([import('./judge.ts'), loadErrorReaders()])
    return judgeResponse(received, { request: this.#request, route: this.route, codec, log: this.#log })
  }

  /** Ends the request if the check before a further call rejects. */
  async #checkFollowUp(check: AttemptSettings['followUpChecks'][number]): Promise<void> {
    try {
      await this.#scope.race(check(this.#log.spending))
    } catch (error) {
      if (!this.#scope.hasEnded) this.#request.client.cancel(error)
      throw error
    }
  }

  /** Counts the usage of a complete response for which the provider reports none, or only zeros. Estimates it if the response has content. */
  async #estimate(received: BufferedResponse | FailedResponse, { reader }: Codec): Promise<void> {
    const usage = getUsage(received)
    const response = received.kind === 'whole' ? received : received.unusedResponse
    if (!reader.contentFields || response?.kind !== 'whole') return this.#log.recordUsage(usage)
    const { estimateOutput } = await this.#request.context.estimates.load()
    const output = estimateOutput(response, reader)
    if (usage && output === 0) this.#log.recordUsage(usage)
    else this.#log.recordEstimate(undefined, output)
  }

  get #credentialUse(): CredentialUse {
    const { connection, model, cloud } = this.route.target
    return { connection, model, cloud, caller: this.#request.log.caller }
  }

  /** Returns the same call with a new credential if the provider rejects the one that a function returned. Happens only once per attempt. */
  async #renewCall(sourced: SourcedCredentials, response: ReceivedResponse | FailedResponse, codec: Codec) {
    const { status } = response.head ?? {}
    const rejected = this.#apiKey
    if (response.kind !== 'failure' || (status !== 401 && status !== 403) || rejected === undefined || this.#hasRenewed)
      return undefined
    this.#hasRenewed = true // makes a second rejection count
    const renewal = sourced.renew(this.#credentialUse, rejected).catch(this.#request.context.onError)
    const prepared = (await this.#scope.race(renewal)) === undefined ? undefined : await this.#prepare(codec.request)
    return prepared && !('kind' in prepared) ? prepared : undefined
  }

  /** Creates the call to a target with its credential, signed if a cloud requires it. If the credential can't be decrypted, the connection fails. */
  async #prepare(unsigned: UpstreamRequest): Promise<UpstreamCall | FailedResponse> {
    const { context, log } = this.#request
    const { target } = this.route
    const { cloud } = target
    if (log.getProviderHeaders) this.#log.addHeaders(log.getProviderHeaders(target, unsigned.headers))
    const { addedHeaders } = this.#log
    const request = addedHeaders ? { ...unsigned, headers: { ...unsigned.headers, ...addedHeaders } } : unsigned
    let apiKey: string | undefined
    try {
      const credentialsPromise = context.loadSourcedCredentials(target.connection)
      this.#credentialFunctions = credentialsPromise && (await credentialsPromise)
      const apiKeyPromise = this.#credentialFunctions
        ? this.#credentialFunctions.get(this.#credentialUse)
        : context.getApiKey(target.connection)
      apiKey = getSettledValue(apiKeyPromise) ?? (await this.#scope.race(apiKeyPromise))
      this.#apiKey = apiKey
    } catch (error) {
      if (!this.#scope.hasEnded) context.onError(error)
      const credentialFailure = this.#credentialFunctions?.createFailure(this.#credentialUse, 'failed')
      return { kind: 'failure', failure: credentialFailure ?? (await loadFailedCalls()).unreadableCredentialFailure }
    }
    if (this.#credentialFunctions && apiKey === undefined) {
      const failure = this.#credentialFunctions.createFailure(this.#credentialUse, 'returned nothing for this request')
      return { kind: 'failure', failure }
    }
    try {
      if (!cloud) return createUpstreamCall(target, apiKey, request)
      return await this.#scope.race(context.createCloudCall(request, { cloud, target, apiKey, fetch: context.fetch }))
    } catch (error) {
      return createFailedResponse(error)
    }
  }

  /** Combines the responses to all of a split request's calls. The first failure fails the request and cancels the other calls. */
  async #receiveParts(
    firstCall: UpstreamCall,
    codec: Codec,
    otherParts: readonly CodecPart[],
  ): Promise<ReceivedResponse | FailedResponse> {
    const { runConcurrently } = await import('./receive-parts.ts')
    return runConcurrently(
      [codec, ...otherParts],
      this.#scope,
      async (part, scope) => {
        const prepared = part === codec ? firstCall : await this.#prepare(part.request)
        if ('kind' in prepared) return prepared
        return scope.hasEnded
          ? createFailedResponse(scope.reason)
          : this.#receive(prepared, { ...codec, ...part }, scope)
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
    this.#log.isPremium = findSurcharge(codec, modelCall.body) !== undefined
    const isStreaming = codec.isForClient && (codec.replyType ? codec.alwaysStreams === true : modelCall.stream)
    const call = new ProviderCall({ clock, limits, isStreaming })
    scope.add((reason) => call.cancel(reason))
    this.#call ??= call
    const responsePromise = call.open(prepared, fetch)
    if (codec.reader.contentFields) {
      this.#log.recordCall(
        () => context.estimates.estimateInput(modelCall, this.route.target),
        () => context.estimates.countUnits(modelCall),
      )
    }
    if (isStreaming) {
      loadReceiveStream().catch(context.onError)
      codec.reader.loadStateFactory().catch(context.onError)
      if (!context.estimates.loaded) context.estimates.load().catch(context.onError)
    }
    this.#onCalled()
    const { format, operation, reader } = codec
    const onEvents = (progress: Pick<StreamState, 'usage'>) => this.#log.followProgress(progress)
    const options = { format, operation, reader, clock, limits, isStreaming, onEvents }
    const received = await receive(responsePromise, call, options)
    if (received.kind !== 'whole' || !codec.complete) return received
    return codec.complete(received, { call: prepared, scope, limits })
  }

  /** Returns the outcome for a failed response. */
  async #readFailure(received: FailedResponse, codec: Codec, call: UpstreamCall): Promise<FailedAttempt> {
    const { knownKeys } = this.#request.context
    const secrets = [
      ...getSecrets(call),
      ...(await this.#scope.race(knownKeys.list())),
      ...(this.#credentialFunctions?.listQuotableForms(this.#apiKey) ?? []),
    ]
    const { redactFailure } = await loadFailedCalls()
    const failedResponse = codec.readFailure(redactFailure(received, { provider: this.route.target.provider, secrets }))
    const { unusedResponse } = failedResponse
    const unusedAttempt = unusedResponse && this.#createAnsweredOutcome(unusedResponse, codec, call, { isRead: false })
    return this.#createFailedOutcome(failedResponse, unusedAttempt)
  }

  /** Returns whether the response is complete although the client requested a stream, or has events although it didn't. */
  #isUnexpected(received: ReceivedResponse | FailedResponse, codec: Codec): boolean {
    if (codec.replyType) return false // this codec can write either form
    if (this.#request.call.stream) return received.kind === 'whole'
    const response = received.kind === 'failure' ? received.unusedResponse : received
    return codec.isPassThrough && response?.kind === 'whole' && response.events !== undefined
  }

  /** Returns the codec for a response that `isUnexpected`. */
  async #adaptCodec(codec: Codec): Promise<Codec> {
    const request = this.#request
    const { target } = this.route
    const translation = await request.context.loadTranslation()
    return request.call.stream
      ? translation.adaptToWhole(request, target, codec)
      : translation.adaptToEvents(request, target, codec)
  }

  #createAnsweredOutcome(
    response: ReceivedResponse,
    codec: Codec,
    call: UpstreamCall,
    { isRead } = { isRead: true },
  ): AnsweredAttempt {
    const bytes = isRead && response.kind === 'whole' ? codec.readWhole(response) : undefined
    const secrets = getSecrets(call) // later parts of the response may also quote these secrets
    const allowance = this.#settings?.allowance
    return { kind: 'answered', route: this.route, codec, response, bytes, secrets, allowance, log: this.#log }
  }

  #createFailedOutcome({ failure, head }: FailedResponse, unusedAttempt?: AnsweredAttempt): FailedAttempt {
    const { route } = this
    return { kind: 'failed', route, failure, ...(head && { head }), ...(unusedAttempt && { unusedAttempt }) }
  }
}

/** Lazy-loaded, because few gateways have steps around attempts. */
const loadAttemptSettings = once(() => import('./attempt-settings.ts'))

/** Converts an error to a failed response. */
async function createFailedResponse(error: unknown): Promise<FailedResponse> {
  return { kind: 'failure', failure: (await loadFailedCalls()).toFailure(error) }
}

/** Returns the usage of a response that has arrived completely, even if it is empty. */
function getUsage(received: BufferedResponse | FailedResponse): TokenUsage | undefined {
  if (received.kind === 'whole') return received.usage
  return received.usage ?? (received.unusedResponse?.kind === 'whole' ? received.unusedResponse.usage : undefined)
}

/** The abort reason of a slower attempt; never reported. */
const SUPERSEDED_REASON = Symbol('superseded')
