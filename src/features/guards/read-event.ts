import { isObject, type JsonObject } from '../../lib/json.ts'
import { formatSseEvent } from '../../lib/sse.ts'
import { parseExactly } from '../../protocols/formats/canonical/exact-json.ts'
import type { ContentFields } from '../../protocols/formats/format.ts'
import { type ContentText, listContentTexts } from '../edit-text/content-texts.ts'
import { dropProbabilities, EVENT_BLOCK_PATTERN, parseEvent } from '../edit-text/edit-text.ts'
import { getChoiceIndex } from './choices.ts'
import { isBinary, isKeyword } from './keywords.ts'

/** A string in an event, other than content that later events continue. */
export interface OtherText {
  readonly text: string
  readonly choice: string
  /** Set for fields outside a Responses object's output, because they may repeat the request. */
  readonly isEcho: boolean
  /** Set for a tool's name in a call. */
  readonly isToolName?: boolean
  /** Identifies the tool call. Later events may continue its name. */
  readonly call?: string | undefined
  /** The path of field names to the string. Set if the same field in later events may continue the string. */
  readonly path?: string | undefined
  replace(text: string): void
}

export interface EventContent {
  readonly texts: ReadonlyArray<ContentText & { readonly isEcho: boolean }>
  readonly otherTexts: readonly OtherText[]
  /** The choices that end with the event. */
  readonly endedChoices: ReadonlySet<string>
  /** The tool calls that the event begins or continues, and those that it ends. */
  readonly startedCalls: readonly string[]
  readonly endedCalls: readonly string[]
}

/** Reads a stream event's strings. */
export function readEvent(json: JsonObject, fields: ContentFields): EventContent {
  const { texts, endedChoices } = listContentTexts(json, fields, { isEvent: true })
  const contentKeys = new Map<object, Set<string>>()
  for (const { parent, key } of texts) contentKeys.set(parent, (contentKeys.get(parent) ?? new Set()).add(`${key}`))
  const echoHolders = new Set<object>()
  const otherTexts: OtherText[] = []
  const nameTexts: OtherText[] = [] // added last, because the values are found by their original names
  const startedCalls: string[] = []

  function visit(holder: object, scope: Pick<OtherText, 'choice' | 'isEcho' | 'call' | 'path'> & { isData: boolean }) {
    if (scope.isEcho) echoHolders.add(holder)
    const isList = Array.isArray(holder)
    for (const [key, value] of Object.entries(holder)) {
      const { choice, isData } = scope
      const isJoined = scope.path !== undefined && !isData && !ALTERNATIVE_FIELDS.has(key)
      const path = isJoined ? (isList ? scope.path : `${scope.path}.${key}`) : undefined
      const isEcho = scope.isEcho || (holder === json.response && key !== 'output')
      if (isData && !isList)
        nameTexts.push({ text: key, choice, isEcho, replace: (name) => renameField(holder, key, name) })
      if (typeof value === 'string') {
        if (value === '' || contentKeys.get(holder)?.has(key)) continue
        if (!isData && (isKeyword(key, value) || isBinary(value))) continue
        const replace = (text: string) => Object.assign(holder, { [key]: text })
        const isName = isToolName(holder, key) || (key === 'name' && scope.call !== undefined)
        otherTexts.push({
          text: value,
          choice,
          isEcho,
          isToolName: isName,
          call: scope.call,
          path: isName ? undefined : path,
          replace,
        })
      } else if (holder === json && CHOICES_FIELDS.has(key) && Array.isArray(value)) value.forEach(visitChoice)
      else if (typeof value === 'object' && value !== null)
        visit(value, {
          ...{ choice, isEcho, path, isData: isData || key === 'args' || key === 'input' },
          call: 'index' in holder && (key === 'function' || key === 'custom') ? `${choice},${holder.index}` : undefined,
        })
    }
  }

  function visitChoice(item: unknown) {
    if (!isObject(item)) return
    const choice = getChoiceIndex(item)
    if (isObject(item.delta) && (item.delta.tool_calls ?? item.delta.function_call))
      startedCalls.push(`choice ${choice}`)
    visit(item, { choice, isEcho: false, isData: false, path: 'choice' })
  }

  visit(json, { choice: '', isEcho: false, isData: false, path: `${json.type}` })
  const call = findCall(json)
  if (call && !call.isComplete) startedCalls.push(call.key)
  return {
    texts: texts.map((text) => ({ ...text, isEcho: echoHolders.has(text.parent) })),
    otherTexts: [...otherTexts, ...nameTexts],
    endedChoices,
    startedCalls,
    endedCalls: [...[...endedChoices].map((choice) => `choice ${choice}`), ...(call?.isComplete ? [call.key] : [])],
  }
}

const isToolName = (holder: object, key: string): boolean =>
  key === 'toolName' || (key === 'name' && ['arguments', 'input', 'args'].some((field) => field in holder))

/** Renames a field without changing the field order. Does nothing if the object already has a field with the new name. */
function renameField(holder: object, name: string, newName: string) {
  if (Object.hasOwn(holder, newName)) return
  for (const [key, value] of Object.entries(holder)) {
    Reflect.deleteProperty(holder, key)
    const field = key === name ? newName : key
    Object.defineProperty(holder, field, { value, writable: true, enumerable: true, configurable: true })
  }
}

/** Fields with tokens that the model considered but didn't choose. They don't continue any text. */
const ALTERNATIVE_FIELDS = new Set(['top_logprobs', 'topCandidates'])

const CHOICES_FIELDS = new Set(['choices', 'candidates'])

/** Finds the tool call that an event begins, continues, or ends. */
function findCall({
  type,
  index,
  output_index: outputIndex,
  id,
  toolCallId: callId,
  item,
  content_block: block,
  delta,
}: JsonObject): { key: string; isComplete: boolean } | undefined {
  const name = String(type)
  if (name === 'content_block_start' && isObject(block) && /tool_use$/.test(String(block.type)))
    return { key: `${index}`, isComplete: false }
  if (name === 'content_block_delta' && isObject(delta) && delta.type === 'input_json_delta')
    return { key: `${index}`, isComplete: false }
  if (name === 'content_block_stop') return { key: `${index}`, isComplete: true }
  if (name === 'response.output_item.added' && isObject(item) && CALL_TYPE_PATTERN.test(String(item.type)))
    return { key: `${outputIndex}`, isComplete: false }
  if (ARGUMENTS_EVENT_PATTERN.test(name)) return { key: `${outputIndex}`, isComplete: false }
  if (name === 'response.output_item.done') return { key: `${outputIndex}`, isComplete: true }
  if (name.startsWith('tool-input-')) return { key: `${id}`, isComplete: false }
  return name === 'tool-call' ? { key: `${callId}`, isComplete: true } : undefined
}

const CALL_TYPE_PATTERN = /^(?:function|custom_tool|mcp)_call$/
const ARGUMENTS_EVENT_PATTERN =
  /^response\.(?:function_call_arguments|custom_tool_call_input|mcp_call_arguments)\.(?:delta|done)$/

/** Removes the content from a failed stream's final events, because no guard checks them. */
export function removeTexts(events: string, fields: ContentFields): string {
  let output = ''
  for (const [block] of events.matchAll(EVENT_BLOCK_PATTERN)) {
    const event = parseEvent(block)
    const json = event && parseExactly(event.data)
    const texts = isObject(json) ? listContentTexts(json, fields, { isEvent: true }).texts : []
    for (const { replace } of texts) replace('')
    dropProbabilities(json)
    output += event && texts.length > 0 ? formatSseEvent({ ...event, data: JSON.stringify(json) }) : block
  }
  return output
}
