import { fromBase64 } from '../../lib/bytes.ts'
import { escapeJson, isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import type { GuardPart, GuardPartKind, GuardRole } from './guard.ts'
import { type JsonString, visitStrings } from './json-strings.ts'
import { isKeyword } from './keywords.ts'

/** A part, with its position in the JSON. */
export interface ReadPart extends GuardPart {
  readonly start: number
  readonly end: number
  /** Set if its content can't be read (`text` is empty), or is elsewhere (`text` is the URL or ID). */
  readonly media?: 'unreadable' | 'remote'
  /** The index of the part's choice, if the response has choices. */
  readonly choice?: number | undefined
  /** Shared by the parts of one list of texts in a message. */
  readonly list?: number | undefined
  /** Returns the JSON of another text; `undefined` if the text can't be written there. */
  write(text: string): string | undefined
}

/** The location of a string in the JSON. */
interface StringPlace {
  role: GuardRole
  kind: GuardPartKind
  isOlder: boolean
  /** Set below the root. */
  isInner: boolean
  /** Set inside the input of a tool call or of a tool result, where the tool chooses all names. */
  isData: boolean
  /** Set for an object whose names the client chooses, such as the `properties` of a JSON schema. */
  isMap?: boolean
  list: number | undefined
  /** The object itself, for its sibling fields. */
  value: JsonObject | undefined
  /** Set inside a message's image, audio, or file. */
  isMedia: boolean
  choice?: number
}

/** Reads all strings of a request or a response as parts. Throws `INVALID_REQUEST` as `visitStrings` does. */
export function readParts(json: string, value: JsonObject, stage: 'request' | 'answer'): ReadPart[] {
  const parts: ReadPart[] = []
  const lastTurns = new Map<object, number>()
  const role = stage === 'request' ? 'user' : 'assistant'
  const root: StringPlace = {
    ...{ role, kind: stage === 'request' ? 'option' : 'other', isOlder: false, isInner: false, isData: false },
    ...{ list: undefined, value, isMedia: false },
  }
  let lists = 0
  const positions = new Map<StringPlace, number>() // how many elements of a list of turns have been entered

  function enter(parent: StringPlace, key: string, inner: object): StringPlace {
    if (Array.isArray(inner)) {
      const place = parent.isInner ? { ...parent, ...classify({}, key, parent) } : enterField(parent, key)
      const isOneText = parent.isInner || SYSTEM.has(key)
      place.list = isOneText && !parent.isData ? ++lists : undefined
      if (!parent.isInner && key === 'choices') positions.set(place, 0)
      if (!parent.isInner && TURNS.has(key)) {
        lastTurns.set(place, findLastTurn(inner))
        positions.set(place, 0)
      }
      return place
    }
    const object = inner as JsonObject // it is no array
    const place = parent.isInner || key === '' ? { ...parent } : enterField(parent, key)
    if (parent.isData) return { ...place, value: object }
    const position = positions.get(parent)
    if (position !== undefined) {
      positions.set(parent, position + 1)
      if (lastTurns.has(parent)) place.isOlder = position <= (lastTurns.get(parent) ?? -1)
      else place.choice = position
      place.list = undefined
    }
    return { ...place, isInner: true, isMap: MAPS.has(key), value: object, ...classify(object, key, place) }
  }

  function enterField(parent: StringPlace, key: string): StringPlace {
    const place = { ...parent, isInner: true }
    if (stage === 'answer') return { ...place, kind: CONTENT.has(key) ? 'text' : 'other' }
    if (SYSTEM.has(key)) return { ...place, role: 'system', kind: 'text' }
    if (key === 'tools' || key === 'functions') return { ...place, role: 'system', kind: 'tool-definition' }
    return { ...place, kind: CONTENT.has(key) ? 'text' : 'option', isData: key === 'metadata' }
  }

  function add(string: JsonString<StringPlace>, part: Partial<ReadPart> & Pick<ReadPart, 'role' | 'kind'>) {
    const { start, end, text, place } = string
    const write = (changed: string) => `"${escapeJson(changed)}"`
    parts.push({
      id: `${parts.length}`,
      text,
      isOlder: place.isOlder,
      choice: place.choice,
      start,
      end,
      write,
      ...part,
    })
  }

  function visit(string: JsonString<StringPlace>) {
    const { text, field, isName, place } = string
    if (isName) {
      if ((place.isData || place.isMap) && text !== '') add(string, { role: place.role, kind: place.kind })
      return
    }
    const isWord = stage === 'answer' ? isKeyword(field, text) : isRequestKeyword(string)
    if (text === '' || (!place.isData && (isWord || (field === 'model' && !place.isInner)))) return
    const at = place.isInner ? place : enterField(place, field)
    const { role } = at
    if (!place.isData && DATA_URL.test(text) && addDataUrl(string, role)) return
    if ((place.isMedia || field === 'b64_json') && addMedia(string, role)) return
    if (place.isData) return add(string, { role, kind: place.kind })
    if (ARGUMENTS.has(field) && at.kind === 'tool-call') return addArguments(string, role)
    const kind = OTHER.has(field) && !(field === 'name' && at.kind.startsWith('tool')) && at.isInner ? 'other' : at.kind
    const isListed = JOINED.has(kind) && place.list !== undefined
    add(string, { role, kind: place.isInner ? kind : at.kind, ...(isListed && { list: place.list }) })
  }

  /** Adds the JSON in a string, with its escapes decoded where the JSON stays valid. */
  function addArguments(string: JsonString<StringPlace>, role: GuardRole) {
    const isJson = tryParseJson(string.text) !== undefined
    const text = isJson ? decodeEscapes(string.text) : string.text
    const write = (changed: string) =>
      isJson && tryParseJson(changed) === undefined ? undefined : `"${escapeJson(changed)}"`
    add(string, { role, kind: 'tool-call', text, write })
  }

  /** Adds the content of a data URL. Returns whether the string is nothing else: a model reads one in a field for text as text. */
  function addDataUrl(string: JsonString<StringPlace>, role: GuardRole): boolean {
    const { field, place } = string
    const comma = string.text.indexOf(',')
    const [type = '', ...options] = string.text.slice('data:'.length, comma).split(';')
    addFile(string, role, { type, data: string.text.slice(comma + 1), isBase64: options.includes('base64') })
    return (DATA.has(field) || REMOTE.has(field)) && place.value?.type !== 'text'
  }

  /** Adds the data or the URL of an image, audio, or file. Returns whether the string is either. */
  function addMedia(string: JsonString<StringPlace>, role: GuardRole): boolean {
    const { text, field, place } = string
    if (REMOTE.has(field)) {
      add(string, { role, kind: 'media', media: 'remote' })
      return true
    }
    if (!DATA.has(field) || place.value?.type === 'text' || !BASE64.test(text)) return false
    if (text.length <= SHORT) add(string, { role, kind: 'media' })
    addFile(string, role, { type: readType(place.value), data: text, isBase64: true })
    return true
  }

  function addFile(
    string: JsonString<StringPlace>,
    role: GuardRole,
    { type, data, isBase64 }: { type: string; data: string; isBase64: boolean },
  ) {
    const text =
      BINARY.test(type) || data.length > MAX_FILE ? undefined : decode(data, { isBase64, isText: TEXTUAL.test(type) })
    const content = text === undefined ? { text: '', media: 'unreadable' as const } : { text }
    add(string, { role, kind: 'media', ...content, write: () => undefined })
  }

  visitStrings(json, { root, value, enter, visit, code: stage === 'request' ? 'INVALID_REQUEST' : 'UPSTREAM_INVALID' })
  return parts
}

/** Kinds of texts that a model reads as one if they are next to each other. */
const JOINED: ReadonlySet<GuardPartKind> = new Set(['text', 'tool-result', 'reasoning'])

/** Fields at the root of a request. */
const SYSTEM = new Set(['system', 'instructions', 'systemInstruction', 'system_instruction'])
const TURNS = new Set(['messages', 'input', 'contents', 'prompt'])

/** Root fields of a request or a response that contain text by people or models. */
const CONTENT = new Set([
  ...[
    'messages',
    'input',
    'contents',
    'prompt',
    'prediction',
    'query',
    'documents',
    'text',
    'texts',
    'inputs',
    'content',
  ],
  ...['instances', 'requests', 'negative_prompt', 'suffix', 'values', 'value', 'question', 'title'],
  ...['choices', 'output', 'candidates', 'results', 'data', 'transcript', 'segments', 'words', 'pages', 'completion'],
])

/** Fields whose strings aren't text. */
const OTHER = new Set([
  ...['id', 'type', 'role', 'name', 'object', 'model', 'format', 'detail', 'status', 'index', 'phase', 'logprobs'],
  ...['media_type', 'mediaType', 'mimeType', 'mime_type', 'call_id', 'tool_call_id', 'toolCallId', 'tool_use_id'],
  ...['signature', 'thoughtSignature', 'thought_signature', 'encrypted_content', 'ttl'],
  ...['finish_reason', 'finishReason', 'stop_reason', 'stop_sequence', 'toolName', 'item_id', 'output_index'],
])

const MAPS = new Set(['properties', '$defs', 'definitions'])
const ARGUMENTS = new Set(['arguments', 'input', 'partial_json'])

/** Fields with the data or the URL of media. */
const DATA = new Set(['data', 'file_data', 'fileData', 'bytes', 'bytesBase64Encoded', 'b64_json', 'image', 'audio'])
const REMOTE = new Set(['url', 'uri', 'image_url', 'file_url', 'file_id', 'fileId', 'fileUri', 'file_uri', 'audio_url'])

const BASE64 = /^[\w+/\s-]+={0,2}[\r\n]{0,2}$/
const DATA_URL = /^data:(?:[\w.+-]+\/[\w.+-]+)?(?:;[^,;]*)*,/i

/** Media types of text, and those that are never read. Files of other types are read if they are valid UTF-8. */
const BINARY = /^(?:audio|video|image)\/(?!svg)/i
const TEXTUAL = /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml)\b|^image\/svg\+xml/i

/** In characters of base64: the largest file whose text is read, and the longest base64 that is also read as text. */
const MAX_FILE = 1_400_000
const SHORT = 1_000

const ROLES: Readonly<Record<string, GuardRole>> = {
  ...{ system: 'system', developer: 'system', user: 'user', assistant: 'assistant', model: 'assistant' },
  ...{ tool: 'tool', function: 'tool' },
}

/** Reads the role and the kind from the fields of an object, which inherit the rest from the objects around it. */
function classify(object: JsonObject, key: string, { kind, role, isMedia }: StringPlace): Partial<StringPlace> {
  const own = typeof object.role === 'string' && Object.hasOwn(ROLES, object.role) ? ROLES[object.role] : undefined
  const type = typeof object.type === 'string' ? object.type : ''
  if (kind === 'tool-definition' || kind === 'option') return { isMedia }
  if (RESULT.test(type) || RESULT.test(key)) return { role: 'tool', kind: 'tool-result', isMedia }
  if (key === 'input' || key === 'args') return { isData: kind === 'tool-call', isMedia }
  if (CALL.test(type) || CALL.test(key)) return { role: own ?? 'assistant', kind: 'tool-call', isMedia }
  if (own === 'tool') return { role: own, kind: 'tool-result', isMedia }
  if (REASONING.test(type) || object.thought === true) return { role: own ?? 'assistant', kind: 'reasoning', isMedia }
  return { role: own ?? role, kind, isMedia: isMedia || MEDIA.test(type) || MEDIA.test(key) }
}

const RESULT = /tool[_-]result|_call_output$|^functionResponse$|^function_response$/
const CALL = /tool_use$|tool[_-]call|_call$|^functionCall$|^function_call$|^server_tool/
const REASONING = /reasoning|thinking/
const MEDIA = /image|audio|video|file|document|media|inlineData|inline_data|source/i

/** Returns the index of the model's last turn, or -1. */
function findLastTurn(turns: readonly unknown[]): number {
  return turns.findLastIndex((turn) => {
    if (!isObject(turn)) return false
    const { role, type } = turn
    return role === 'assistant' || role === 'model' || (typeof type === 'string' && /_call$|^reasoning$/.test(type))
  })
}

/** Returns whether the string is a keyword of the format, which no guard needs to read. */
const isRequestKeyword = ({ field, text }: JsonString<StringPlace>): boolean =>
  (field === 'role' || field === 'type' || field === 'object') && KEYWORD.test(text)

const KEYWORD = /^[a-z][a-z0-9_.-]{0,63}$/

function readType(object: JsonObject | undefined): string {
  for (const name of ['media_type', 'mediaType', 'mimeType', 'mime_type', 'format']) {
    const type = object?.[name]
    if (typeof type === 'string') return type
  }
  return ''
}

function decode(data: string, { isBase64, isText }: { isBase64: boolean; isText: boolean }): string | undefined {
  try {
    return isBase64 ? new TextDecoder('utf-8', { fatal: !isText }).decode(fromBase64(data)) : decodeURIComponent(data)
  } catch {
    return undefined
  }
}

/** Decodes escaped letters in JSON. The result is JSON with the same value. */
const decodeEscapes = (json: string): string =>
  json.replace(/\\(?:u([\da-fA-F]{4})|[\s\S])/g, (sequence, digits?: string) => {
    const code = digits === undefined ? 0 : Number.parseInt(digits, 16)
    const isPlain = code >= 0x20 && code !== 0x22 && code !== 0x5c && (code < 0xd800 || code > 0xdfff)
    return isPlain ? String.fromCharCode(code) : sequence
  })

/** Joins the parts of each list of at least two texts, which a model reads as one. */
export function joinLists(parts: readonly ReadPart[]): Array<{ part: GuardPart; of: readonly ReadPart[] }> {
  const lists = new Map<number, ReadPart[]>()
  for (const part of parts) {
    if (part.list === undefined) continue
    const list = lists.get(part.list)
    if (list) list.push(part)
    else lists.set(part.list, [part])
  }
  return [...lists.values()].flatMap((of) => {
    const [first] = of
    if (!first || of.length < 2) return []
    const { id, role, kind, isOlder } = first
    return [{ part: { id, role, kind, isOlder, text: of.map(({ text }) => text).join('') }, of }]
  })
}
