import { fromBase64 } from '../../lib/bytes.ts'
import { parseFieldName } from '../../lib/form-fields.ts'
import { isMultipart } from '../../lib/http-headers.ts'
import { formatScalar, isObject, type JsonObject } from '../../lib/json.ts'
import { type FormPart, isFile, parseForm } from '../../lib/multipart.ts'
import type { Endpoint } from '../../protocols/formats/format.ts'
import { getDuration } from '../../protocols/kinds/sound/audio-duration.ts'
import { isStreamRequested, type ModelCall, parseModelCall, type RouteFields, readModelName } from './model-call.ts'

/**
 * Parses a form with files, or JSON in its place. Its fields become the fields of `body`: `a[]`, `a[0]`, and repeated names become a list `a`, and
 * `a[b]` becomes the field `b` of `a`. All are strings, except that a file is an object with its name, type, and size. Throws the same errors as
 * `parseModelCall`.
 */
export function parseFormCall(
  bytes: Uint8Array,
  endpoint: Endpoint,
  { pathModel, contentType = '' }: { pathModel?: string | undefined; contentType?: string | undefined },
): ModelCall {
  if (!isMultipart(contentType)) return parseModelCall(bytes, endpoint, { model: pathModel })
  const form = parseForm(bytes, contentType).map((part) =>
    endpoint.bodyLimit === 'maxAudioBytes' && isFile(part) ? { ...part, seconds: () => getDuration(part.bytes) } : part,
  )
  const body = toFields(form)
  const model = readModelName(pathModel ?? body.model, endpoint)
  return {
    endpoint,
    model,
    stream:
      endpoint.streams === 'requested' &&
      (isStreamRequested(body, endpoint) || /^true$/i.test(formatScalar(body.stream))),
    bytes: bytes.length,
    body,
    text: JSON.stringify(body),
    form,
    modelSpans: [],
  }
}

/**
 * Parses JSON with base64 in its `audio` field. The call contains the audio as a file instead, so it is decoded and held in memory only once. Invalid
 * base64 is left for the client's format to reject. Throws the same errors as `parseModelCall`.
 */
export function parseAudioCall(bytes: Uint8Array, endpoint: Endpoint, routeFields: RouteFields): ModelCall {
  const call = parseModelCall(bytes, endpoint, routeFields)
  const { audio, ...otherFields } = call.body
  try {
    if (typeof audio !== 'string' || audio === '') return call
    const audioBytes = fromBase64(audio)
    return {
      ...call,
      body: otherFields,
      text: JSON.stringify(otherFields),
      modelSpans: [],
      form: [
        { name: 'audio', type: '', bytes: audioBytes, fileName: undefined, seconds: () => getDuration(audioBytes) },
      ],
    }
  } catch {
    return call
  }
}

function toFields(form: readonly FormPart[]): JsonObject {
  const fields = new Map<string, unknown>()
  for (const part of form) {
    const value = isFile(part)
      ? { fileName: part.fileName ?? null, type: part.type, size: part.bytes.length }
      : part.value
    const { name, nestedName, isArrayItem } = parseFieldName(part.name)
    const field = fields.get(name)
    if (nestedName !== undefined)
      fields.set(name, Object.fromEntries([...(isObject(field) ? Object.entries(field) : []), [nestedName, value]]))
    else if (isArrayItem || field !== undefined)
      fields.set(name, [...(Array.isArray(field) ? field : field === undefined ? [] : [field]), value])
    else fields.set(name, value)
  }
  return Object.fromEntries(fields)
}
