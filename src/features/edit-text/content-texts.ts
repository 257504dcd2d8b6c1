import { gatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ContentFields } from '../../protocols/formats/format.ts'

/** A string written by the model, with its location in a response or an event. */
export interface ContentText {
  readonly text: string
  /** Whether this is a piece of a string that later events continue. */
  readonly isDelta: boolean
  readonly isReasoning: boolean
  /** Pieces with the same channel are parts of one string. */
  readonly channel: string
  /** The choice that the string belongs to. Empty if the format has only one choice. */
  readonly choice: string
  /** The object or array that contains the string. */
  readonly parent: object
  readonly key: string | number
  replace(text: string): void
}

/** The strings in a response or an event. */
export interface TextList {
  texts: readonly ContentText[]
  /** The choices in the response or event, or `undefined` if there are none or if the format has only one choice. */
  choices: ReadonlySet<string> | undefined
  /** The choices that end with the response or event. */
  endedChoices: ReadonlySet<string>
}

/**
 * Lists the strings written by the model: messages, reasoning, refusals, and tool call inputs. Throws `UPSTREAM_INVALID` if the nesting is too deep.
 */
export function listContentTexts(json: JsonObject, names: ContentFields, { isEvent }: { isEvent: boolean }): TextList {
  const texts: ContentText[] = []
  const choices = new Set<string>()
  const endedChannels = new Set<string>()

  function visit(parent: JsonObject | unknown[], key: string | number, context: TextContext) {
    const value = (parent as JsonObject)[key]
    if (typeof value === 'string') {
      if (!context.content || value === '') return
      const { choice, path, isReasoning, isData } = context
      const isDelta = isEvent && context.content === 'streamed' && !isData
      const replace = (text: string) => Object.assign(parent, { [key]: text })
      texts.push({ text: value, isDelta, isReasoning, choice, channel: `${path} ${isReasoning}`, parent, key, replace })
    } else if (Array.isArray(value))
      for (const [index] of value.entries()) visit(value, index, enterElement(value[index], context))
    else if (isObject(value)) visitObject(value, context)
  }

  function enterElement(element: unknown, context: TextContext): TextContext {
    const index = isObject(element) && typeof element.index === 'number' ? element.index : ''
    const path = `${context.path}[${index}]`
    if (!context.isChoices) return { ...descend(context), path }
    const choice = `${Number(index)}`
    choices.add(choice)
    if (isObject(element) && (element.finish_reason ?? element.finishReason)) endedChannels.add(choice)
    return { ...descend(context), path, choice, isChoices: false }
  }

  function visitObject(object: JsonObject, context: TextContext) {
    const { type, thought } = object
    if (!context.isData && typeof type === 'string' && SKIPPED_TYPES.test(type)) return
    const isReasoning =
      context.isReasoning || thought === true || (typeof type === 'string' && REASONING_TYPES.test(type))
    for (const name of Object.keys(object)) {
      const value = object[name]
      if (!context.isData && (SKIPPED_FIELDS.has(name) || (name === 'name' && isCall(object, context)))) continue
      if (name === 'text' && isObject(value)) continue // in the Responses format, `text` can also be an object with settings
      const content = names.streamed.includes(name)
        ? 'streamed'
        : names.complete.includes(name)
          ? 'whole'
          : context.content
      visit(object, name, {
        ...descend(context),
        content,
        path: `${context.path}.${name}`,
        isReasoning: isReasoning || REASONING_FIELDS.has(name),
        isData: context.isData || ((name === 'args' || name === 'input') && typeof value === 'object'),
        isChoices: !content && (name === 'choices' || name === 'candidates'),
      })
    }
  }

  visitObject(json, { ...ROOT_CONTEXT, path: isEvent ? POSITION_FIELDS.map((name) => json[name]).join() : '' })
  return { texts, choices: choices.size > 0 ? choices : undefined, endedChoices: endedChannels }
}

interface TextContext {
  content: 'streamed' | 'whole' | undefined
  path: string
  choice: string
  depth: number
  isReasoning: boolean
  /** Whether the value is part of a tool call's input, where the tool chooses all names. */
  isData: boolean
  isChoices: boolean
}

const ROOT_CONTEXT = {
  content: undefined,
  choice: '',
  depth: 0,
  isReasoning: false,
  isData: false,
  isChoices: false,
} as const

function descend(context: TextContext): TextContext {
  const depth = context.depth + 1
  if (depth > MAX_DEPTH)
    throw gatewayError('UPSTREAM_INVALID', { message: 'The response nests too deep to be edited.' })
  return { ...context, depth }
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

const isCall = (object: JsonObject, { path }: TextContext): boolean =>
  'arguments' in object || 'args' in object || 'input' in object || /\.(?:function|functionCall|custom)$/.test(path)
