import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import { replaceMembers } from '../../lib/json-edit.ts'
import { type FormPart, serializeForm } from '../../lib/multipart.ts'
import type { SseEvent } from '../../lib/sse.ts'
import { isBlankUsage, updateUsage } from '../formats/canonical/reported-usage.ts'
import { readEmbeddedError } from '../formats/errors/embedded-errors.ts'
import { createCompleteResponseReader, createStreamProgress, type ResponseReader } from '../formats/format.ts'
import type { ProviderTarget } from '../providers/target.ts'
import type {
  KindDefinition,
  KindResponse,
  PassThrough,
  PreparedPart,
  PreparedStream,
  VendorAdapter,
  VendorContext,
  VendorRequest,
} from './kind-adapters.ts'

/** The settings for reading the responses to a request's parts. */
export interface PartReading<Req, Res extends KindResponse, Chunk> {
  vendor: VendorAdapter<Req, Res, Chunk>
  stream: WatchedStream | undefined
  estimatedUsage: KindResponse['usage']
  contentFields: ResponseReader['contentFields'] | undefined
  addPriceFacts: KindDefinition<Req, Res, Chunk>['addPriceFacts'] | undefined
  completeResponse: KindDefinition<Req, Res, Chunk>['completeResponse'] | undefined
  /** Compares a response with the responses to the other parts. */
  findProblem: ((response: Res) => string | undefined) | undefined
}

type WatchedStream = Pick<PreparedStream, 'framing' | 'open'> & {
  acceptsType: ResponseReader['isBinary'] | undefined
}

export interface ReadablePart<Res> extends PreparedPart {
  read(json: JsonObject): Res
  /** Returns whether the gateway changed the response after the provider sent it. */
  isCompleted(json: JsonObject): boolean
}

export interface PassedRequest<Req> {
  request: Req
  text: string
  context: VendorContext
  /** If the request is split, the list field with only this part's items. */
  partFields: JsonObject
}

/** Prepares a request that is passed through, or a part of it. */
export function preparePassedPart<Req, Res extends KindResponse, Chunk>(
  partReading: PartReading<Req, Res, Chunk>,
  { path, getExcludedFields, getAddedFields, rewriteForm, skim }: PassThrough<Req>,
  { request, text, context, partFields }: PassedRequest<Req>,
): ReadablePart<Res> {
  const isPartialRequest = Object.keys(partFields).length > 0
  const body = { ...context.body, ...partFields }
  const addedFields = { ...partFields, ...getAddedFields?.(request, { ...context, body }) }
  const excludedFields = [...(getExcludedFields?.(request, context) ?? []), ...Object.keys(addedFields)].filter(
    (name) => Object.hasOwn(body, name),
  )
  const isUnchanged = excludedFields.length === 0 && Object.keys(addedFields).length === 0
  const { reader, ...rest } = createPartReader(request, partReading)
  const form = context.form && (rewriteForm?.(context.form, request) ?? context.form)
  const content = form
    ? encodeForm(adaptForm(form, { excludedFields, addedFields, model: getFormModelName(context.target) }))
    : { body: isUnchanged ? text : replaceMembers(text, excludedFields, addedFields) }
  return {
    request: { path: path(context.target), ...content },
    reader: skim && !isPartialRequest ? { ...reader, skim: (response) => skim(response, request) } : reader,
    ...rest,
  }
}

/** Returns the model name for a form. On Azure, it is the deployment name, which JSON requests have in their URL instead. */
export const getFormModelName = ({ cloud, connection, model }: ProviderTarget): string =>
  (cloud === 'azure' ? connection.providerSpecificData?.deployment : undefined) ?? model

function adaptForm(
  form: readonly FormPart[],
  { excludedFields, addedFields, model }: { excludedFields: readonly string[]; addedFields: JsonObject; model: string },
): FormPart[] {
  const retainedParts = form.filter(
    ({ name }) => name !== 'model' && !excludedFields.includes(name.split('[', 1)[0] ?? name),
  )
  const fields = Object.entries(addedFields).map(([name, value]) => ({ name, value: String(value) }))
  return [{ name: 'model', value: model }, ...fields, ...retainedParts]
}

function encodeForm(form: readonly FormPart[]): { body: Uint8Array; headers: Record<string, string> } {
  const { contentType, bytes } = serializeForm(form)
  return { body: bytes, headers: { 'content-type': contentType } }
}

/** Prepares a translated request, or a part of it. */
export function prepareTranslatedPart<Req, Res extends KindResponse, Chunk>(
  partReading: PartReading<Req, Res, Chunk>,
  request: Req,
  { body, form, bytes, headers, ...rest }: VendorRequest,
): ReadablePart<Res> {
  const content = form
    ? encodeForm(form)
    : bytes
      ? { body: bytes.bytes, headers: { 'content-type': bytes.type } }
      : { ...(body && { body: JSON.stringify(body) }), headers: {} }
  return {
    request: { ...rest, ...content, headers: { ...headers, ...content.headers } },
    ...createPartReader(request, partReading),
  }
}

/** Creates the reader for a vendor's responses to a request. It reads each response once. */
function createPartReader<Req, Res extends KindResponse, Chunk>(
  request: Req,
  {
    vendor,
    contentFields,
    stream,
    estimatedUsage,
    addPriceFacts,
    completeResponse,
    findProblem,
  }: PartReading<Req, Res, Chunk>,
): Omit<ReadablePart<Res>, 'request'> {
  const { arrayField, textField, bytesField, findError, readHeaderUsage, job } = vendor
  let completedJson: JsonObject | undefined
  let lastRead: { json: JsonObject; response: Res | string } | undefined

  function tryRead(json: JsonObject): Res | string {
    if (lastRead?.json !== json) {
      const response = vendor.readResponse(json, request)
      lastRead = { json, response: (typeof response === 'string' ? undefined : findProblem?.(response)) ?? response }
    }
    return lastRead.response
  }

  const responseReader = createCompleteResponseReader({
    ...(contentFields && { contentFields }),
    isResponse: (json) => typeof tryRead(json) !== 'string',
    describeMissing(json) {
      const response = tryRead(json)
      return typeof response === 'string' ? response : undefined
    },
    ...(arrayField !== undefined && { arrayField }),
    ...(textField !== undefined && { textField }),
    ...(bytesField !== undefined && { bytesField }),
    getError(json) {
      if (!isObject(json)) return undefined
      return findError ? findError(json, request) : readEmbeddedError(json.error)
    },
    getUsage(json, header) {
      const response = isObject(json) ? tryRead(json) : ''
      if (typeof response === 'string') return undefined
      const isEmptyTranscript = 'text' in response && response.text === '' // the recording was silent
      const usage = addEstimatedUnits(response.usage ?? (header && readHeaderUsage?.(header)), estimatedUsage, {
        isEmpty: isEmptyTranscript,
      })
      return usage && addPriceFacts ? addPriceFacts(usage, request, response) : usage
    },
  })

  return {
    reader: stream ? { ...responseReader, ...watchChunks(stream) } : responseReader,
    read(json) {
      const response = tryRead(json)
      if (typeof response === 'string') throw new TypeError('A body that is not a response was treated as one.')
      return response
    },
    isCompleted: (json) => json === completedJson,
    ...((job || completeResponse) && {
      async completeResponse(json, tools) {
        const poll = job?.findJob(json, tools.requestUrl)
        const finishedJson = job && poll ? { ...(await tools.awaitJob(poll, job)), ...poll.extraFields } : json
        const response = tryRead(finishedJson)
        if (typeof response === 'string')
          throw gatewayError('UPSTREAM_INVALID', { message: `The provider finished its job without ${response}.` })
        const fullResponse = (await completeResponse?.(response, request, tools)) ?? response
        if (finishedJson === json && fullResponse === response) return json
        completedJson = { ...finishedJson }
        lastRead = { json: completedJson, response: fullResponse }
        return completedJson
      },
    }),
  }
}

/**
 * Adds estimated units to reported usage that contains only tokens, because the model may have a per-unit price. If the reported usage is all zeros,
 * the estimate replaces it.
 */
export function addEstimatedUnits(
  reported: KindResponse['usage'],
  estimated: KindResponse['usage'],
  { isEmpty = false } = {},
): KindResponse['usage'] {
  if (!reported || !estimated?.units) return reported ?? estimated
  if (isBlankUsage(reported) && !isEmpty) return { ...estimated, isEstimated: true }
  return reported.units ? reported : { ...reported, units: estimated.units }
}

/** Tracks a stream until its first chunk. */
function watchChunks({ framing, open, acceptsType }: WatchedStream): Partial<ResponseReader> {
  return {
    ...(acceptsType && { isBinary: acceptsType }),
    loadStateFactory: async () => () => {
      const { read } = open()
      const state = createStreamProgress()
      return Object.assign(state, {
        observe(event: SseEvent) {
          if (framing === 'bytes') {
            state.hasStarted = state.hasEnded = true // any byte is audio, and the stream ends when the connection does
            return
          }
          const { hasChunks, usage, error, isLast } = read(event)
          if (error) state.error = error
          else if (hasChunks) state.hasStarted = true
          state.usage = updateUsage(state.usage, usage)
          if (isLast) state.hasEnded = state.isClosed = true
        },
      })
    },
  }
}
