import { escapeJson, isObject, type JsonObject } from '../../lib/json.ts'
import { readHints } from './content-hints.ts'
import { EncodedParts, isDataUrl } from './encoded-parts.ts'
import type { GuardPart, GuardPartKind, GuardRole } from './guard.ts'
import { type JsonString, type StringVisitor, visitStrings, visitValues } from './json-strings.ts'
import { isKeyword, isKnownName } from './keywords.ts'
import { FOUND, type TextScreen, UNCLEAR } from './text-screen.ts'

/** A part with its position in the JSON. */
export interface ReadPart extends GuardPart {
  readonly start: number
  readonly end: number
  /** Set if the content can't be read (`text` is empty), or if it is elsewhere (`text` is the URL or ID). */
  readonly media?: 'unreadable' | 'remote' | undefined
  /** The index of the choice that contains the part, if the response has choices. */
  readonly choice?: number | undefined
  /** Identifies a list of strings in a message. All parts of the list have the same number. */
  readonly list?: number | undefined
  /** Returns the JSON for this part with `text` as its new value, or `undefined` if the part can't hold that text. */
  write(text: string): string | undefined
}

/** An object or array in the JSON. It inherits properties from the object or array that contains it. */
class StringPlace {
  role: GuardRole
  kind: GuardPartKind
  isOlder = false
  /** Set for places below the root. */
  isInner = false
  /** Set inside the input of a tool call or tool result, where the tool chooses all names. */
  isData = false
  /** Set for an object whose names the client chooses, such as the `properties` of a JSON schema. */
  isMap = false
  list: number | undefined = undefined
  /** The object itself, for looking up sibling fields. */
  value: JsonObject | undefined
  /** Set inside an image, audio, or file of a message. */
  isMedia = false
  choice: number | undefined = undefined
  /** For a list of turns or choices: the number of elements visited so far. */
  position: number | undefined = undefined
  /** In a list of turns, the index of the model's last turn. */
  lastTurn: number | undefined = undefined
  /** In a list of turns: the current turn's role and the list of its strings. Consecutive turns with the same role share a list. */
  lastRole: GuardRole | undefined = undefined
  turnList: number | undefined = undefined

  constructor(from: Pick<StringPlace, 'role' | 'kind' | 'value'>, parent?: StringPlace) {
    this.role = from.role
    this.kind = from.kind
    this.value = from.value
    if (!parent) return
    this.isOlder = parent.isOlder
    this.isInner = parent.isInner
    this.isData = parent.isData
    this.list = parent.list
    this.isMedia = parent.isMedia
    this.choice = parent.choice
  }
}

/** Reads all strings in a request or response as parts. Throws the same errors as `visitStrings`. */
export function readParts(json: string, value: JsonObject, stage: 'request' | 'answer'): ReadPart[] {
  const parts: ReadPart[] = []
  const visitor = createPartVisitor(value, stage, {
    add({ start, end, text, place }, { role, kind, list, media, ...rest }) {
      const { isOlder, choice } = place
      const { text: partText = text, write = writeString } = rest
      parts.push({ id: `${parts.length}`, text: partText, role, kind, isOlder, choice, list, start, end, media, write })
    },
  })
  visitStrings(json, { ...visitor, code: stage === 'request' ? 'INVALID_REQUEST' : 'UPSTREAM_INVALID' })
  return parts
}

/** Returns whether any string in a request needs a check, either on its own or joined with the other strings in its list. */
export function screenParts(json: string, value: JsonObject, screens: readonly TextScreen[]): boolean {
  const states = screens.map((): number[] => [])
  let isSuspicious = false
  const visitor = createPartVisitor(value, 'request', {
    needsAge: false,
    add({ text }, { text: partText = text, list = 0 }) {
      if (isSuspicious) return
      for (let index = 0; index < screens.length; index++) {
        const last = states[index] ?? []
        const before = list === 0 ? 0 : (last[list] ?? 0)
        const state = before === UNCLEAR ? FOUND : (screens[index]?.scan(partText, before) ?? 0)
        if (state === FOUND) isSuspicious = true
        else if (list !== 0) last[list] = state
      }
    },
  })
  return visitValues(json, visitor) || isSuspicious
}

/** A string's role, kind, and other properties known before its content is read. */
type PartHints = Partial<ReadPart> & Pick<ReadPart, 'role' | 'kind'>

interface PartSink {
  /** Whether parts need `isOlder`. Default: true. */
  needsAge?: boolean
  add(string: JsonString<StringPlace>, part: PartHints): void
}

function createPartVisitor(
  value: JsonObject,
  stage: 'request' | 'answer',
  { add, needsAge = true }: PartSink,
): StringVisitor<StringPlace> {
  const root = new StringPlace(
    stage === 'request' ? { role: 'user', kind: 'option', value } : { role: 'assistant', kind: 'other', value },
  )
  const encoded = new EncodedParts(add)
  let lists = 0

  function enter(parent: StringPlace, key: string, inner: object): StringPlace {
    if (isSamePlace(parent, key, inner)) return parent
    const isRoot = !parent.isInner
    const place = isRoot && key !== '' ? enterField(parent, key) : new StringPlace(parent, parent)
    if (Array.isArray(inner)) {
      if (!isRoot) classify(place, NO_TYPE, key)
      if (parent.isData || key === 'top_logprobs') place.list = undefined
      else if (!isRoot) place.list ??= ++lists
      else place.list = SYSTEM_FIELDS.has(key) || (stage === 'answer' && BLOCK_FIELDS.has(key)) ? ++lists : undefined
      if (isRoot && (key === 'choices' || TURN_FIELDS.has(key))) place.position = 0
      if (isRoot && TURN_FIELDS.has(key)) place.lastTurn = needsAge ? findLastTurn(inner) : -1
      return place
    }
    const object = inner as JsonObject // arrays were handled above
    place.value = object
    if (parent.isData) return place
    if (parent.position !== undefined) {
      const position = parent.position++
      if (parent.lastTurn === undefined) place.choice = position
      else place.isOlder = position <= parent.lastTurn
      place.list = undefined
    }
    place.isInner = true
    place.isMap = key !== '' && MAP_FIELDS.has(key)
    classify(place, object, key)
    if (parent.lastTurn !== undefined) {
      if (place.role !== parent.lastRole) parent.turnList = ++lists
      parent.lastRole = place.role
      place.list = parent.turnList
    }
    return place
  }

  function enterField(parent: StringPlace, key: string): StringPlace {
    const place = new StringPlace(parent, parent)
    place.isInner = true
    const isRequest = stage === 'request'
    if (isRequest && SYSTEM_FIELDS.has(key)) {
      place.role = 'system'
      place.kind = 'text'
    } else if (isRequest && (key === 'tools' || key === 'functions')) {
      place.role = 'system'
      place.kind = 'tool-definition'
    } else place.kind = CONTENT_FIELDS.has(key) ? 'text' : parent.kind
    place.isData = isRequest && key === 'metadata'
    return place
  }

  function visit(string: JsonString<StringPlace>) {
    const { text, field, isName, place } = string
    if (text === '') return
    if (isName) {
      if (!isPlainName(text, place))
        add(string, { role: place.role, kind: place.isData || place.isMap ? place.kind : 'other' })
      return
    }
    if (field === 'model' && !place.isInner) return
    const location = place.isInner ? place : enterField(place, field)
    const { role } = location
    if (!place.isData && isDataUrl(text) && encoded.addDataUrl(string, role)) return
    if ((place.isMedia || field === 'b64_json') && encoded.addMedia(string, role)) return
    if (place.isData) return add(string, { role, kind: place.kind })
    if (location.kind === 'tool-call' && ARGUMENT_FIELDS.has(field)) return encoded.addArguments(string, role)
    if (!place.isInner) return add(string, { role, kind: location.kind })
    if (TEXT_FIELDS.has(field))
      return add(string, { role, kind: place.kind, list: isJoined(place.kind) ? place.list : undefined })
    const isOther = OTHER_FIELDS.has(field) && !(NAME_FIELDS.has(field) && place.kind.startsWith('tool'))
    add(string, { role, kind: isOther ? 'other' : place.kind, list: undefined })
  }

  return { root, value, enter, visit, isPlainName, isPlainValue }
}

const isPlainName = (name: string, { isData, isMap }: StringPlace) => !isData && !isMap && isKnownName(name)
const isPlainValue = (field: string, text: string, { isData }: StringPlace) => !isData && isKeyword(field, text)
const writeString = (text: string) => `"${escapeJson(text)}"`
const NO_TYPE: JsonObject = {}

/** Returns whether a model reads adjacent strings of a kind as continuous text. */
const isJoined = (kind: GuardPartKind) => kind === 'text' || kind === 'tool-result' || kind === 'reasoning'

/** Fields that contain a list's strings. Other fields between them don't separate the strings. */
const TEXT_FIELDS = new Set(['', 'text', 'content', 'thinking', 'reasoning', 'refusal', 'output', 'token'])

/** A request's root fields with system instructions. */
const SYSTEM_FIELDS = new Set(['system', 'instructions', 'systemInstruction', 'system_instruction'])
const BLOCK_FIELDS = new Set(['content', 'output'])
const TURN_FIELDS = new Set(['messages', 'input', 'contents', 'prompt'])

/** Root fields with text written by people or models, in a request or response. */
const CONTENT_FIELDS = new Set([
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
    'generateContentRequest',
  ],
  ...['instances', 'requests', 'negative_prompt', 'suffix', 'values', 'value', 'question', 'title'],
  ...['choices', 'output', 'candidates', 'results', 'data', 'transcript', 'segments', 'words', 'pages', 'completion'],
])

/** Fields whose strings aren't text. */
const OTHER_FIELDS = new Set([
  ...['id', 'type', 'role', 'name', 'object', 'model', 'format', 'detail', 'status', 'index', 'phase', 'logprobs'],
  ...['media_type', 'mediaType', 'mimeType', 'mime_type', 'call_id', 'tool_call_id', 'toolCallId', 'tool_use_id'],
  ...['signature', 'thoughtSignature', 'thought_signature', 'encrypted_content', 'ttl'],
  ...['finish_reason', 'finishReason', 'stop_reason', 'stop_sequence', 'toolName', 'item_id', 'output_index'],
])

/** Fields that contain a tool's name. */
const NAME_FIELDS = new Set(['name', 'toolName'])

const MAP_FIELDS = new Set(['properties', '$defs', 'definitions'])
const ARGUMENT_FIELDS = new Set(['arguments', 'input', 'partial_json'])

const ROLE_BY_NAME: ReadonlyMap<string, GuardRole> = new Map([
  ...(['system', 'user', 'assistant', 'tool'] as const).map((role) => [role, role] as const),
  ...([
    ['developer', 'system'],
    ['model', 'assistant'],
    ['function', 'tool'],
  ] as const),
])

/** Returns whether an array or object inherits everything from its parent. Most of a conversation does, and creating places takes time. */
const isSamePlace = (parent: StringPlace, key: string, inner: object): boolean =>
  parent.isInner &&
  !parent.isData &&
  !parent.isMap &&
  parent.list !== undefined &&
  parent.position === undefined &&
  (Array.isArray(inner) ? key === 'content' || key === 'parts' : key === '' && isTextBlock(inner as JsonObject))

const isTextBlock = (block: JsonObject) =>
  block.type === 'text' && typeof block.text === 'string' && Object.keys(block).length === 2

/** Derives a place's role and kind from an object's fields, or inherits them from the place that contains it. */
function classify(place: StringPlace, object: JsonObject, key: string) {
  const { kind } = place
  if (kind === 'tool-definition' || kind === 'option') return
  const objectRole = typeof object.role === 'string' ? ROLE_BY_NAME.get(object.role) : undefined
  const hints = readHints(key)
  const typeHints = readHints(typeof object.type === 'string' ? object.type : '')
  if (hints.isResult || typeHints.isResult) {
    place.role = 'tool'
    place.kind = 'tool-result'
  } else if (key === 'input' || key === 'args') place.isData = kind === 'tool-call'
  else if (hints.isCall || typeHints.isCall) {
    place.role = objectRole ?? 'assistant'
    place.kind = 'tool-call'
  } else if (objectRole === 'tool') {
    place.role = objectRole
    place.kind = 'tool-result'
  } else if (typeHints.isReasoning || object.thought === true) {
    place.role = objectRole ?? 'assistant'
    place.kind = 'reasoning'
  } else {
    place.role = objectRole ?? place.role
    place.isMedia ||= hints.isMedia || typeHints.isMedia
  }
}

/** Returns the index of the model's last turn, or -1. */
function findLastTurn(turns: readonly unknown[]): number {
  return turns.findLastIndex((turn) => {
    if (!isObject(turn)) return false
    const { role, type } = turn
    return role === 'assistant' || role === 'model' || (typeof type === 'string' && /_call$|^reasoning$/.test(type))
  })
}
