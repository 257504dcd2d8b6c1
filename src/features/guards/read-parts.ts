import { escapeJson, isObject, type JsonObject } from '../../lib/json.ts'
import { getContentHints } from './content-hints.ts'
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
  readonly listId?: number | undefined
  /** Returns the JSON for this part with `text` as its new value, or `undefined` if the part can't hold that text. */
  write(text: string): string | undefined
}

/** An object or array in the JSON. It inherits properties from the object or array that contains it. */
class StringScope {
  role: GuardRole
  kind: GuardPartKind
  isOlder = false
  /** Set for scopes below the root. */
  isNested = false
  /** Set inside the input of a tool call or tool result, where the tool chooses all names. */
  isData = false
  /** Set for an object whose names the client chooses, such as the `properties` of a JSON schema. */
  isMap = false
  listId: number | undefined = undefined
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
  turnListId: number | undefined = undefined

  constructor(base: Pick<StringScope, 'role' | 'kind' | 'value'>, parent?: StringScope) {
    this.role = base.role
    this.kind = base.kind
    this.value = base.value
    if (!parent) return
    this.isOlder = parent.isOlder
    this.isNested = parent.isNested
    this.isData = parent.isData
    this.listId = parent.listId
    this.isMedia = parent.isMedia
    this.choice = parent.choice
  }
}

/** Reads all strings in a request or response as parts. Throws the same errors as `visitStrings`. */
export function readParts(json: string, value: JsonObject, stage: 'request' | 'answer'): ReadPart[] {
  const parts: ReadPart[] = []
  const visitor = createPartVisitor(value, stage, {
    add({ start, end, text, scope }, { role, kind, listId, media, ...content }) {
      const { isOlder, choice } = scope
      const { text: partText = text, write = writeString } = content
      parts.push({
        id: `${parts.length}`,
        text: partText,
        role,
        kind,
        isOlder,
        choice,
        listId,
        start,
        end,
        media,
        write,
      })
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
    add({ text }, { text: partText = text, listId = 0 }) {
      if (isSuspicious) return
      for (let index = 0; index < screens.length; index++) {
        const statesByList = states[index] ?? []
        const previousState = listId === 0 ? 0 : (statesByList[listId] ?? 0)
        const state = previousState === UNCLEAR ? FOUND : (screens[index]?.scan(partText, previousState) ?? 0)
        if (state === FOUND) isSuspicious = true
        else if (listId !== 0) statesByList[listId] = state
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
  add(string: JsonString<StringScope>, part: PartHints): void
}

function createPartVisitor(
  value: JsonObject,
  stage: 'request' | 'answer',
  { add, needsAge = true }: PartSink,
): StringVisitor<StringScope> {
  const root = new StringScope(
    stage === 'request' ? { role: 'user', kind: 'option', value } : { role: 'assistant', kind: 'other', value },
  )
  const encodedParts = new EncodedParts(add)
  let lastListId = 0

  function enter(parent: StringScope, key: string, child: object): StringScope {
    if (inheritsScope(parent, key, child)) return parent
    const isRoot = !parent.isNested
    const scope = isRoot && key !== '' ? enterField(parent, key) : new StringScope(parent, parent)
    if (Array.isArray(child)) {
      if (!isRoot) classify(scope, NO_TYPE, key)
      if (parent.isData || key === 'top_logprobs') scope.listId = undefined
      else if (!isRoot) scope.listId ??= ++lastListId
      else
        scope.listId =
          SYSTEM_FIELDS.has(key) || (stage === 'answer' && BLOCK_FIELDS.has(key)) ? ++lastListId : undefined
      if (isRoot && (key === 'choices' || TURN_FIELDS.has(key))) scope.position = 0
      if (isRoot && TURN_FIELDS.has(key)) scope.lastTurn = needsAge ? findLastTurn(child) : -1
      return scope
    }
    const object = child as JsonObject // arrays were handled above
    scope.value = object
    if (parent.isData) return scope
    if (parent.position !== undefined) {
      const position = parent.position++
      if (parent.lastTurn === undefined) scope.choice = position
      else scope.isOlder = position <= parent.lastTurn
      scope.listId = undefined
    }
    scope.isNested = true
    scope.isMap = key !== '' && MAP_FIELDS.has(key)
    classify(scope, object, key)
    if (parent.lastTurn !== undefined) {
      if (scope.role !== parent.lastRole) parent.turnListId = ++lastListId
      parent.lastRole = scope.role
      scope.listId = parent.turnListId
    }
    return scope
  }

  function enterField(parent: StringScope, key: string): StringScope {
    const scope = new StringScope(parent, parent)
    scope.isNested = true
    const isRequest = stage === 'request'
    if (isRequest && SYSTEM_FIELDS.has(key)) {
      scope.role = 'system'
      scope.kind = 'text'
    } else if (isRequest && (key === 'tools' || key === 'functions')) {
      scope.role = 'system'
      scope.kind = 'tool-definition'
    } else scope.kind = CONTENT_FIELDS.has(key) ? 'text' : parent.kind
    scope.isData = isRequest && key === 'metadata'
    return scope
  }

  function visit(string: JsonString<StringScope>) {
    const { text, field, isName, scope } = string
    if (text === '') return
    if (isName) {
      if (!canSkipName(text, scope))
        add(string, { role: scope.role, kind: scope.isData || scope.isMap ? scope.kind : 'other' })
      return
    }
    if (field === 'model' && !scope.isNested) return
    const fieldScope = scope.isNested ? scope : enterField(scope, field)
    const { role } = fieldScope
    if (!scope.isData && isDataUrl(text) && encodedParts.addDataUrl(string, role)) return
    if ((scope.isMedia || field === 'b64_json') && encodedParts.addMedia(string, role)) return
    if (scope.isData) return add(string, { role, kind: scope.kind })
    if (fieldScope.kind === 'tool-call' && ARGUMENT_FIELDS.has(field)) return encodedParts.addArguments(string, role)
    if (!scope.isNested) return add(string, { role, kind: fieldScope.kind })
    if (TEXT_FIELDS.has(field))
      return add(string, { role, kind: scope.kind, listId: isContinuousKind(scope.kind) ? scope.listId : undefined })
    const isOther = NON_TEXT_FIELDS.has(field) && !(NAME_FIELDS.has(field) && scope.kind.startsWith('tool'))
    add(string, { role, kind: isOther ? 'other' : scope.kind, listId: undefined })
  }

  return { root, value, enter, visit, canSkipName, canSkipValue }
}

const canSkipName = (name: string, { isData, isMap }: StringScope) => !isData && !isMap && isKnownName(name)
const canSkipValue = (field: string, text: string, { isData }: StringScope) => !isData && isKeyword(field, text)
const writeString = (text: string) => `"${escapeJson(text)}"`
const NO_TYPE: JsonObject = {}

/** Returns whether a model reads adjacent strings of a kind as continuous text. */
const isContinuousKind = (kind: GuardPartKind) => kind === 'text' || kind === 'tool-result' || kind === 'reasoning'

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
const NON_TEXT_FIELDS = new Set([
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

/** Returns whether an array or object inherits everything from its parent. Most of a conversation does, and creating scopes takes time. */
const inheritsScope = (parent: StringScope, key: string, child: object): boolean =>
  parent.isNested &&
  !parent.isData &&
  !parent.isMap &&
  parent.listId !== undefined &&
  parent.position === undefined &&
  (Array.isArray(child) ? key === 'content' || key === 'parts' : key === '' && isTextBlock(child as JsonObject))

const isTextBlock = (block: JsonObject) =>
  block.type === 'text' && typeof block.text === 'string' && Object.keys(block).length === 2

/** Derives a scope's role and kind from an object's fields, or inherits them from the scope that contains it. */
function classify(scope: StringScope, object: JsonObject, key: string) {
  const { kind } = scope
  if (kind === 'tool-definition' || kind === 'option') return
  const objectRole = typeof object.role === 'string' ? ROLE_BY_NAME.get(object.role) : undefined
  const hints = getContentHints(key)
  const typeHints = getContentHints(typeof object.type === 'string' ? object.type : '')
  if (hints.isToolResult || typeHints.isToolResult) {
    scope.role = 'tool'
    scope.kind = 'tool-result'
  } else if (key === 'input' || key === 'args') scope.isData = kind === 'tool-call'
  else if (hints.isToolCall || typeHints.isToolCall) {
    scope.role = objectRole ?? 'assistant'
    scope.kind = 'tool-call'
  } else if (objectRole === 'tool') {
    scope.role = objectRole
    scope.kind = 'tool-result'
  } else if (typeHints.isReasoning || object.thought === true) {
    scope.role = objectRole ?? 'assistant'
    scope.kind = 'reasoning'
  } else {
    scope.role = objectRole ?? scope.role
    scope.isMedia ||= hints.isMedia || typeHints.isMedia
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
