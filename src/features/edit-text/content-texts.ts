import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ContentFields } from '../../protocols/formats/format.ts'

/** A string written by the model, with its location in a response or an event. */
export interface ContentText {
  readonly text: string
  /** Whether this is a piece of a string that later events continue. */
  readonly isPiece: boolean
  readonly isReasoning: boolean
  /** Pieces with the same channel are parts of one string. */
  readonly channel: string
  /** The choice that the string belongs to. Empty if the format has only one choice. */
  readonly choice: string
  /** The object or array that contains the string. */
  readonly holder: object
  readonly key: string | number
  replace(text: string): void
}

/** The strings in a response or an event. */
export interface TextList {
  texts: readonly ContentText[]
  /** The choices in the response or event, or `undefined` if there are none or if the format has only one choice. */
  choices: ReadonlySet<string> | undefined
  /** The choices that end with the response or event. */
  ended: ReadonlySet<string>
}

/**
 * Lists the strings written by the model: messages, reasoning, refusals, and tool call inputs. Throws `UPSTREAM_INVALID` if the nesting is too deep.
 */
export function listContentTexts(json: JsonObject, names: ContentFields, { isEvent }: { isEvent: boolean }): TextList {
  const texts: ContentText[] = []
  const choices = new Set<string>()
  const endedChannels = new Set<string>()

  function visit(holder: JsonObject | unknown[], key: string | number, place: TextPlace) {
    const value = (holder as JsonObject)[key]
    if (typeof value === 'string') {
      if (!place.content || value === '') return
      const { choice, path, isReasoning, isData } = place
      const isPiece = isEvent && place.content === 'streamed' && !isData
      const replace = (text: string) => Object.assign(holder, { [key]: text })
      texts.push({ text: value, isPiece, isReasoning, choice, channel: `${path} ${isReasoning}`, holder, key, replace })
    } else if (Array.isArray(value))
      for (const [index] of value.entries()) visit(value, index, enterElement(value[index], place))
    else if (isObject(value)) visitObject(value, place)
  }

  function enterElement(element: unknown, place: TextPlace): TextPlace {
    const index = isObject(element) && typeof element.index === 'number' ? element.index : ''
    const path = `${place.path}[${index}]`
    if (!place.isChoices) return { ...descend(place), path }
    const choice = `${Number(index)}`
    choices.add(choice)
    if (isObject(element) && (element.finish_reason ?? element.finishReason)) endedChannels.add(choice)
    return { ...descend(place), path, choice, isChoices: false }
  }

  function visitObject(object: JsonObject, place: TextPlace) {
    const { type, thought } = object
    if (!place.isData && typeof type === 'string' && SKIPPED_TYPES.test(type)) return
    const isReasoning =
      place.isReasoning || thought === true || (typeof type === 'string' && REASONING_TYPES.test(type))
    for (const name of Object.keys(object)) {
      const value = object[name]
      if (!place.isData && (SKIPPED_FIELDS.has(name) || (name === 'name' && isCall(object, place)))) continue
      if (name === 'text' && isObject(value)) continue // in the Responses format, `text` can also be an object with settings
      const content = names.streamed.includes(name)
        ? 'streamed'
        : names.complete.includes(name)
          ? 'whole'
          : place.content
      visit(object, name, {
        ...descend(place),
        content,
        path: `${place.path}.${name}`,
        isReasoning: isReasoning || REASONING_FIELDS.has(name),
        isData: place.isData || ((name === 'args' || name === 'input') && typeof value === 'object'),
        isChoices: !content && (name === 'choices' || name === 'candidates'),
      })
    }
  }

  visitObject(json, { ...ROOT_PLACE, path: isEvent ? POSITION_FIELDS.map((name) => json[name]).join() : '' })
  return { texts, choices: choices.size > 0 ? choices : undefined, ended: endedChannels }
}

interface TextPlace {
  content: 'streamed' | 'whole' | undefined
  path: string
  choice: string
  depth: number
  isReasoning: boolean
  /** Whether the value is part of a tool call's input, where the tool chooses all names. */
  isData: boolean
  isChoices: boolean
}

const ROOT_PLACE = {
  content: undefined,
  choice: '',
  depth: 0,
  isReasoning: false,
  isData: false,
  isChoices: false,
} as const

function descend(place: TextPlace): TextPlace {
  const depth = place.depth + 1
  if (depth > MAX_DEPTH)
    throw gatewayError('UPSTREAM_INVALID', { message: 'The response nests too deep to be edited.' })
  return { ...place, depth }
}

const MAX_DEPTH = 1_000

/** Fields that identify the text that an event continues. */
const POSITION_FIELDS = ['type', 'index', 'output_index', 'content_index', 'summary_index', 'item_id', 'id']

const REASONING_FIELDS = new Set(['reasoning', 'reasoning_content', 'reasoning_details', 'thinking', 'thinking_blocks'])
const REASONING_TYPES = /^(?:response\.)?(?:reasoning|thinking)/

/** Types of provider-run tool results and of audio. */
const SKIPPED_TYPES = /_tool_result$|\.audio\.delta$/

/** The formats' keywords and IDs, and encrypted or signed data. */
const SKIPPED_FIELDS = new Set([
  ...['type', 'id', 'call_id', 'format', 'sources', 'annotations', 'citations', 'logprobs'],
  ...['signature', 'thoughtSignature', 'thought_signature', 'encrypted_content', 'data', 'language'],
])

const isCall = (object: JsonObject, { path }: TextPlace): boolean =>
  'arguments' in object || 'args' in object || 'input' in object || /\.(?:function|functionCall|custom)$/.test(path)
