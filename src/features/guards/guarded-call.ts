import { gatewayError } from '../../errors.ts'
import { encodeUtf8 } from '../../lib/bytes.ts'
import { type Exchange, isByteStream, type Reply, type UpstreamFetch } from '../../lib/exchange.ts'
import { findFieldConflict } from '../../lib/form-fields.ts'
import { type JsonObject, tryParseJson } from '../../lib/json.ts'
import { OPEN_BRACKET } from '../../lib/json-scan.ts'
import { convertArrayToEvents } from '../../lib/sse-array.ts'
import type { Choice } from '../../protocols/formats/canonical/canonical-response.ts'
import { estimateTokens } from '../../protocols/formats/estimate-tokens.ts'
import { type ErrorFormat, loadClientContentFields } from '../../protocols/formats/format.ts'
import { getFormat } from '../../protocols/formats/formats.ts'
import type { CallRequest } from '../../request/call-steps.ts'
import { toJsonArray } from '../../request/codec/json-array.ts'
import type { ModelCall } from '../../request/codec/model-call.ts'
import type { RelayedStream } from '../../request/codec/relay.ts'
import type { RequestEvents } from '../../request/request-events.ts'
import type { CallChange } from '../../request/steps.ts'
import type { Clock } from '../../types.ts'
import { createModelCaller } from './call-model.ts'
import type { Guard } from './guard.ts'
import { withVerdictHeader, writeReply } from './guard-reply.ts'
import type { GuardTally } from './guard-tally.ts'
import { checkParts, checkResponse, type ResponseCheck, writeParts } from './guarded-response.ts'
import { GuardedStream } from './guarded-stream.ts'
import { joinLists } from './join-lists.ts'
import type { BuiltInGuard } from './kinds/finding-guard.ts'
import { hasHostedTools } from './kinds/request-guards.ts'
import { addProviderHeaders } from './provider-headers.ts'
import { type ReadPart, readParts, screenParts } from './read-parts.ts'
import { rejectionFormats, type StreamEnding } from './rejections/rejection-formats.ts'
import { GuardRun } from './run-guards.ts'
import { expandItems, replaceItems } from './stored-items.ts'

/** The gateway functions that guards need. */
export interface GuardServices {
  clock: Clock
  basePath: string
  serve(exchange: Exchange): Promise<Reply | undefined>
  onError(error: unknown): void
  /** Returns the function that calls other servers. */
  upstream(exchange: Exchange): UpstreamFetch
  events: Pick<RequestEvents, 'add'>
}

type Next = (change?: CallChange) => Promise<Reply>

/** Checks a model call and its response. */
export async function guardCall(
  call: CallRequest,
  next: Next,
  { guards, tally, ...services }: GuardServices & { guards: readonly Guard[]; tally: GuardTally },
): Promise<Reply> {
  const { clock, basePath, serve, events, onError, upstream } = services
  const { endpoint } = call.request.call
  const { text, body } = expandItems(call.request)
  const callModel = createModelCaller({
    basePath,
    serve,
    clientExchange: call.exchange,
    events,
    onCost: (usd) => tally.addCost(usd),
  })
  const fetch = upstream(call.exchange)
  const deps = { request: call, clock, signal: call.signal, onError, callModel, fetch }
  const run = new GuardRun(guards, deps)
  tally.add(run)
  call.log.omitsProviderMessages = true
  if (run.getGuards('answer').length > 0)
    call.log.responseChecks.push((choices) => {
      const attemptRun = new GuardRun(run.getGuards('answer'), deps)
      tally.add(attemptRun)
      return isRejected(choices, attemptRun)
    })
  const parts = needsParts(run.getGuards('request'), text, body) ? readParts(text, body, 'request') : []
  const concurrentGuards = hasHostedTools(body) ? [] : await run.listConcurrentGuards(parts)
  const sequentialGuards = run.getGuards('request').filter((guard) => !concurrentGuards.includes(guard))
  const checkedRequest =
    checkRequestBody(run, parts, { body, form: call.request.call.form }) ??
    (await checkRequest(run, parts, { guards: sequentialGuards }))
  if ('answeredBy' in checkedRequest || 'rejectedBy' in checkedRequest) {
    call.servedBy = 'guard'
    return writeReply(call, checkedRequest)
  }
  addProviderHeaders(call.request.log, run.getGuards('request'))
  const changedText = applyRewrites(
    run,
    call,
    checkedRequest.changedTexts.size > 0 ? writeParts(text, parts, checkedRequest.changedTexts) : text,
  )
  const pendingReply = next(changedText === call.request.call.text ? undefined : { text: changedText })
  const guardReply = await checkDuringCall(call, pendingReply, {
    run,
    parts: changeParts(parts, checkedRequest.changedTexts),
    guards: concurrentGuards,
  })
  if (guardReply) return guardReply
  const reply = await pendingReply
  const isMedia = MEDIA_TYPE_PATTERN.test(reply.headers['content-type'] ?? '')
  if (run.getGuards('answer').length === 0 || isMedia || reply.body === undefined) return withVerdictHeader(reply, run)
  const { kind } = endpoint.operation
  const { changedTexts } = checkedRequest
  let requestStrings: ReadonlySet<string> | undefined
  const isInRequest = (string: string) => {
    const getRequestParts = () => (parts.length > 0 ? parts : readParts(text, body, 'request'))
    requestStrings ??= new Set(getRequestParts().map((part) => changedTexts.get(part.id) ?? part.text))
    return requestStrings.has(string)
  }
  const isJson = reply.headers['content-type']?.includes('json') ?? false
  if (!isSuccess(reply)) return checkErrorReply(reply, { run, format: call.format, isJson, isInRequest })
  const isChatStream = call.stream && kind === 'llm' && (!isJson || isJsonArray(reply.body))
  if (!isByteStream(reply.body) && !isChatStream) {
    const isChat = kind === 'llm'
    const responseCheck = { run, format: call.format, isChat, isJson, isInRequest }
    const { body: checkedBody, rejection } = await checkResponse(reply.body, responseCheck)
    if (rejection) call.servedBy = 'guard'
    if (endpoint.getReferences && checkedBody !== reply.body && typeof checkedBody === 'string')
      replaceItems(call.request, tryParseJson(checkedBody))
    return withVerdictHeader({ ...reply, body: checkedBody }, run)
  }
  const stream = isByteStream(reply.body) ? (reply.body as RelayedStream) : createStream(reply.body)
  const guardedStream = await guardStream(call, stream, { run, clock, isArray: isJson, isInRequest })
  return withVerdictHeader({ ...reply, body: guardedStream }, run, ['held'])
}

/** Returns whether a guard rejects a response that hasn't been written in the client's format yet. */
async function isRejected(choices: readonly Choice[], run: GuardRun): Promise<boolean> {
  const text = JSON.stringify({ choices })
  const decision = await checkParts(readParts(text, JSON.parse(text), 'answer'), run)
  return decision.kind === 'refused'
}

/** Checks a provider's error. If a guard rejects it, the client gets an error with the same status and another message. */
async function checkErrorReply(reply: Reply, options: Omit<ResponseCheck, 'isChat'>): Promise<Reply> {
  const { status, headers, body } = reply
  if (isByteStream(body) || body === undefined) return withVerdictHeader(reply, options.run)
  try {
    const { body: checkedBody } = await checkResponse(body, { ...options, isChat: false })
    return withVerdictHeader({ ...reply, body: checkedBody }, options.run)
  } catch {
    const errors = await getFormat(options.format).loadErrors()
    const message = `The provider returned an error with the status ${status}. A guard removed its message.`
    const errorBody = JSON.stringify(errors.createBody({ status, code: 'UPSTREAM_FAILED', message }))
    return withVerdictHeader(
      { status, headers: { ...headers, 'content-type': 'application/json' }, body: errorBody },
      options.run,
    )
  }
}

/** Returns whether guards might find anything in a request. Most strings contain none of the words that guards look for. */
function needsParts(guards: readonly Guard[], text: string, body: JsonObject): boolean {
  const screens = guards.map((guard: BuiltInGuard | Guard) =>
    'screen' in guard && guard.media !== 'refuse' && guard.remote !== 'refuse' ? guard.screen : undefined,
  )
  const activeScreens = screens.filter((screen) => screen !== undefined)
  return activeScreens.length < screens.length || screenParts(text, body, activeScreens)
}

/** Applies the changes that guards make to an entire chat request. */
const applyRewrites = (run: GuardRun, { format, request }: CallRequest, json: string): string =>
  CHAT_OPERATIONS.has(request.call.endpoint.operation.name)
    ? run
        .getGuards('request')
        .reduce(
          (text, guard: Guard | BuiltInGuard) => ('rewrite' in guard && guard.rewrite?.(text, format)) || text,
          json,
        )
    : json

const CHAT_OPERATIONS: ReadonlySet<string> = new Set(['generate'])

const isSuccess = ({ status }: Reply) => status >= 200 && status < 300

const isJsonArray = (body: Reply['body']): boolean =>
  !isByteStream(body) && body !== undefined && body[0] === (typeof body === 'string' ? '[' : OPEN_BRACKET)

/** Creates a stream from a complete response that was converted for a streaming client. */
function createStream(body: string | Uint8Array): RelayedStream {
  let pendingBytes: Uint8Array | undefined = typeof body === 'string' ? encodeUtf8(body) : body
  const discardBytes = () => {
    pendingBytes = undefined
  }
  return {
    async next() {
      const bytes = pendingBytes
      discardBytes()
      return bytes
    },
    fail: discardBytes,
    cancel: discardBytes,
  }
}

/** Matches the media types of responses that contain no text. */
const MEDIA_TYPE_PATTERN = /^(?:audio\/|video\/|image\/(?!svg)|application\/octet-stream)/i

/** The new text of changed parts, or why no provider is called. */
type CheckedRequest =
  | { readonly changedTexts: ReadonlyMap<string, string> }
  | { readonly rejectedBy: Guard; readonly category: string | undefined }
  | { readonly answeredBy: Guard; readonly text: string }

/** Checks a request. Removes the text of rejected older turns, so the conversation can continue. */
async function checkRequest(
  run: GuardRun,
  parts: readonly ReadPart[],
  { guards, isAlreadySent = false }: { guards: readonly Guard[]; isAlreadySent?: boolean },
): Promise<CheckedRequest> {
  const removedTexts = new Map<string, string>()
  for (;;) {
    const remainingParts =
      removedTexts.size > 0 ? parts.map((part) => (removedTexts.has(part.id) ? { ...part, text: '' } : part)) : parts
    const decision = await run.check({ parts: remainingParts, stage: 'request', final: true }, guards)
    if (decision.kind === 'answered') return { answeredBy: decision.guard, text: decision.text }
    if (decision.kind === 'refused') {
      const { guard, category, ids } = decision
      const faultyParts = isAlreadySent ? undefined : await findRejectedOlderParts(run, remainingParts, { guard, ids })
      if (!faultyParts) return { rejectedBy: guard, category }
      for (const part of faultyParts)
        removedTexts.set(part.id, part.write(REMOVED_TEXT) === undefined ? '{}' : REMOVED_TEXT)
      continue
    }
    const changedTexts = new Map([...decision.texts, ...removedTexts])
    const joinedLists = joinLists(changeParts(remainingParts, changedTexts))
    if (joinedLists.length === 0) return { changedTexts }
    const joinedDecision = await run.check(
      { parts: joinedLists.map(({ part }) => part), stage: 'request', final: true },
      guards,
    )
    if (joinedDecision.kind === 'answered') return { answeredBy: joinedDecision.guard, text: joinedDecision.text }
    if (joinedDecision.kind === 'passed') {
      for (const { part, sourceParts } of joinedLists) {
        const text = joinedDecision.texts.get(part.id)
        if (text !== undefined)
          for (const [index, part] of sourceParts.entries()) changedTexts.set(part.id, index === 0 ? text : '')
      }
      return { changedTexts }
    }
    const { guard, category, ids } = joinedDecision
    const joinedParts = joinedLists.map(({ part }) => part)
    const faultyParts = isAlreadySent ? undefined : await findRejectedOlderParts(run, joinedParts, { guard, ids })
    if (!faultyParts) return { rejectedBy: guard, category }
    const faultyIds = new Set(faultyParts.map(({ id }) => id))
    for (const { part, sourceParts } of joinedLists)
      if (faultyIds.has(part.id)) for (const { id } of sourceParts) removedTexts.set(id, REMOVED_TEXT)
  }
}

const changeParts = (parts: readonly ReadPart[], changedTexts: ReadonlyMap<string, string>): readonly ReadPart[] =>
  changedTexts.size > 0 ? parts.map((part) => ({ ...part, text: changedTexts.get(part.id) ?? part.text })) : parts

/**
 * Checks a request during the provider call. Resolves to the guard's reply if a guard rejects or answers the request. Discards the provider's
 * response in that case, or if a guard fails.
 */
async function checkDuringCall(
  call: CallRequest,
  pendingReply: Promise<Reply>,
  { run, parts, guards }: { run: GuardRun; parts: readonly ReadPart[]; guards: readonly Guard[] },
): Promise<Reply | undefined> {
  if (guards.length === 0) return undefined
  const pendingCheck = checkRequest(run, parts, { guards, isAlreadySent: true })
  const ignoreFailure = () => undefined // without a response, the verdict doesn't matter
  const checkAfterReply = pendingReply.then((reply) => (isSuccess(reply) ? pendingCheck : undefined), ignoreFailure)
  const discardReply = ({ body }: Reply) => isByteStream(body) && body.cancel()
  try {
    const checkedRequest = await Promise.race([pendingCheck, checkAfterReply])
    if (!checkedRequest || 'changedTexts' in checkedRequest) return undefined
    const reply = await writeReply(call, checkedRequest)
    pendingReply.then(discardReply, () => {})
    call.servedBy = 'guard'
    return reply
  } catch (error) {
    pendingReply.then(discardReply, () => {})
    pendingCheck.catch(() => {})
    call.log.client.cancel(error)
    throw error
  }
}

const REMOVED_TEXT = '[removed by policy]'

/** Returns the older parts that a guard rejects. Returns `undefined` if it also rejects newer parts, or if the parts can't be removed. */
async function findRejectedOlderParts<Part extends Pick<ReadPart, 'id' | 'text' | 'role' | 'kind' | 'isOlder'>>(
  run: GuardRun,
  parts: readonly Part[],
  { guard, ids }: { guard: Guard; ids: readonly string[] | undefined },
): Promise<readonly Part[] | undefined> {
  const olderParts = parts.filter(({ isOlder, text }) => isOlder && text !== '')
  if (guard.older === 'refuse' || olderParts.length === 0) return undefined
  const isRejected = async (candidates: readonly Part[]) =>
    (await run.check({ parts: candidates, stage: 'request', final: true }, [guard])).kind === 'refused'
  const rejectedParts: Part[] = []
  if (ids) rejectedParts.push(...parts.filter(({ id }) => ids.includes(id)))
  else {
    if (await isRejected(parts.filter(({ isOlder }) => !isOlder))) return undefined
    for (const part of olderParts) if (await isRejected([part])) rejectedParts.push(part)
  }
  return rejectedParts.length > 0 && rejectedParts.every(isRemovable) ? rejectedParts : undefined
}

/** Signed reasoning, IDs, and media can't be changed. */
const isRemovable = ({ isOlder, kind }: Pick<ReadPart, 'isOlder' | 'kind'>) =>
  isOlder && kind !== 'reasoning' && kind !== 'other' && kind !== 'media'

/** Checks a request's media, size, and tools, and rejects content that guards can't read. */
function checkRequestBody(
  run: GuardRun,
  parts: readonly ReadPart[],
  { body, form }: { body: JsonObject; form: ModelCall['form'] | undefined },
): CheckedRequest | undefined {
  const guards = run.getGuards('request')
  const hasFiles = form?.some((part) => 'bytes' in part) ?? false
  const hasUnreadableMedia = hasFiles || parts.some(({ media }) => media === 'unreadable')
  const hasRemoteMedia = parts.some(({ media }) => media === 'remote')
  for (const guard of guards) {
    const decision =
      guard.media === 'refuse' && hasUnreadableMedia
        ? run.recordVerdict(guard, { verdict: 'refuse', category: 'media' })
        : guard.remote === 'refuse' && hasRemoteMedia
          ? run.recordVerdict(guard, { verdict: 'refuse', category: 'remote' })
          : 'checkBody' in guard && run.recordVerdict(guard, (guard as BuiltInGuard).checkBody?.(body, parts))
    if (decision && decision.kind === 'refused') return { rejectedBy: guard, category: decision.category }
  }
  const repeatedField = guards.length > 0 ? findFieldConflict(form ?? []) : undefined
  if (repeatedField !== undefined)
    throw gatewayError('INVALID_REQUEST', {
      message: `The form has several values for "${repeatedField.slice(0, 100)}". Send it once.`,
      data: { param: repeatedField.slice(0, 100) },
    })
  if (guards.length > 0 && hasTokenArrays(body))
    throw gatewayError('INVALID_REQUEST', {
      message:
        'This gateway checks the content of requests, which it cannot do for token arrays. Send text as "input".',
      data: { param: 'input' },
    })
  return undefined
}

const hasTokenArrays = ({ input, prompt }: JsonObject): boolean =>
  [input, prompt].some(
    (value) =>
      Array.isArray(value) &&
      value.some((item) => typeof item === 'number' || (Array.isArray(item) && typeof item[0] === 'number')),
  )

/** Wraps a stream so its text is sent only after it has been checked. */
async function guardStream(
  call: CallRequest,
  stream: RelayedStream,
  {
    run,
    clock,
    isArray,
    isInRequest,
  }: { run: GuardRun; clock: Clock; isArray: boolean; isInRequest(text: string): boolean },
): Promise<RelayedStream> {
  const { endpoint, body, form } = call.request.call
  const isChat = endpoint.operation.kind === 'llm'
  const format = getFormat(call.format)
  const fields = (isChat && (await loadClientContentFields(format, endpoint.operation))) || NON_CHAT_FIELDS
  const events: RelayedStream = isArray
    ? { ...convertArrayToEvents(stream), fail: (error) => stream.fail(error) }
    : stream
  const guardedStream = new GuardedStream({
    ...{ stream: events, fields, run, clock, keepAlive: format.keepAlive },
    ending: isChat
      ? rejectionFormats[call.format].createEnding({
          ...{ body, model: call.model, now: clock.now() },
          saveItem: (item) => replaceItems(call.request, { output: [item] }),
        })
      : createErrorEnding(await format.loadErrors()),
    choiceCount: countChoices(body),
    isInRequest,
    maxHeldLength: call.request.context.limits.maxResponseBytes,
    estimateUsage: (length) => ({
      inputTokens: form ? 0 : estimateTokens(body),
      outputTokens: Math.ceil(length / CHARACTERS_PER_TOKEN),
    }),
    onRejected: () => {
      call.servedBy = 'guard'
    },
  })
  return isArray ? toJsonArray(guardedStream) : guardedStream
}

/** Ends non-chat streams with an error, because they have no finish reason. */
const createErrorEnding = (errors: ErrorFormat): StreamEnding => ({
  observe() {},
  end: ({ message }) => errors.createEvent({ status: 400, code: 'CONTENT_REFUSED', message }),
})

/** Returns how many choices a chat request or text completion asks for. A text completion may contain several prompts. */
const countChoices = ({ n, prompt }: JsonObject): number =>
  (typeof n === 'number' ? n : 1) * (Array.isArray(prompt) ? prompt.length : 1)

/** The content fields of non-chat streams, such as transcriptions. */
const NON_CHAT_FIELDS = { complete: ['text', 'transcript'], streamed: ['delta'] }
const CHARACTERS_PER_TOKEN = 4
