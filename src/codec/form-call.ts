import type { Endpoint } from '../formats/format.ts'
import { secondsOf } from '../kinds/sound/length.ts'
import { fromBase64 } from '../lib/bytes.ts'
import { isMultipart } from '../lib/http-headers.ts'
import { isObject, type JsonObject } from '../lib/json.ts'
import { type FormPart, isFile, readForm } from '../lib/multipart.ts'
import { type AskedBeside, asksForStream, checkedModel, type ModelCall, parseModelCall } from './model-call.ts'

/**
 * Parses a form with files, or JSON in its place. Its fields become the members of `body`: `a[]` and repeated ones a list `a`, `a[b]` the member
 * `b` of `a`; all are strings, and a file is an object with its name, its type and its size. Throws as `parseModelCall` does.
 */
export function parseFormCall(
  bytes: Uint8Array,
  endpoint: Endpoint,
  { pathModel, contentType = '' }: { pathModel?: string | undefined; contentType?: string | undefined },
): ModelCall {
  if (!isMultipart(contentType)) return parseModelCall(bytes, endpoint, { model: pathModel })
  const form = readForm(bytes, contentType).map((part) =>
    endpoint.bodyLimit === 'maxAudioBytes' && isFile(part) ? { ...part, seconds: () => secondsOf(part.bytes) } : part,
  )
  const body = membersOf(form)
  const model = checkedModel(pathModel ?? body.model)
  return {
    endpoint,
    model,
    stream: endpoint.streams === 'asked' && (asksForStream(body, endpoint) || /^true$/i.test(String(body.stream))),
    bytes: bytes.length,
    body,
    text: JSON.stringify(body),
    form,
    modelSpans: [],
  }
}

/**
 * Parses JSON whose member `audio` is sound in base64, which the call has as a file in place of that, so that it is decoded and held once. What is
 * no base64 is left for the form of the client to refuse. Throws as `parseModelCall` does.
 */
export function parseSoundCall(bytes: Uint8Array, endpoint: Endpoint, beside: AskedBeside): ModelCall {
  const call = parseModelCall(bytes, endpoint, beside)
  const { audio, ...others } = call.body
  try {
    if (typeof audio !== 'string' || audio === '') return call
    const sound = fromBase64(audio)
    return {
      ...call,
      body: others,
      text: JSON.stringify(others),
      modelSpans: [],
      form: [{ name: 'audio', type: '', bytes: sound, fileName: undefined, seconds: () => secondsOf(sound) }],
    }
  } catch {
    return call
  }
}

function membersOf(form: readonly FormPart[]): JsonObject {
  const members = new Map<string, unknown>()
  for (const part of form) {
    const value = isFile(part)
      ? { fileName: part.fileName ?? null, type: part.type, size: part.bytes.length }
      : part.value
    const [, name = part.name, inner] = /^([^[]+)\[([^[\]]*)\]$/.exec(part.name) ?? []
    const given = members.get(name)
    if (inner)
      members.set(name, Object.fromEntries([...(isObject(given) ? Object.entries(given) : []), [inner, value]]))
    else if (inner === '' || given !== undefined)
      members.set(name, [...(Array.isArray(given) ? given : given === undefined ? [] : [given]), value])
    else members.set(name, value)
  }
  return Object.fromEntries(members)
}
