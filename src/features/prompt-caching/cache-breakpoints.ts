import { isObject, type JsonObject } from '../../lib/json.ts'
import type { BreakpointTraits } from '../../protocols/providers/traits/cache-traits.ts'
import type { PromptCacheTtl } from '../../types.ts'

/** Options for adding cache breakpoints to a provider's request body. */
export interface BreakpointOptions {
  /** The cache lifetime of the tools and the instructions. */
  ttl: PromptCacheTtl | undefined
  /** Whether the provider gets the client's own bytes. If so, only the fields with breakpoints may change. */
  isPassThrough: boolean
  /** Whether to add a breakpoint only to the instructions, because the conversation may never continue. */
  onlyInstructions: boolean
}

/** The body's changed fields. `undefined` removes a field. */
export type EditedFields = Record<string, unknown>

/**
 * Adds breakpoints where the target supports them. Returns the changed fields without modifying the body. Returns no fields if nothing can have a
 * breakpoint.
 */
export function addBreakpoints(body: JsonObject, places: BreakpointTraits, options: BreakpointOptions): EditedFields {
  switch (places.form) {
    case 'messages':
      return addMessagesBreakpoints(body, places, options)
    case 'converse':
      return addConverseBreakpoints(body, places, options)
    case 'chat':
      return addChatBreakpoints(body, options)
    case 'breakpoint':
      return Array.isArray(body.messages)
        ? addChatInstructionsBreakpoint(body)
        : addResponsesInstructionsBreakpoint(body)
  }
}

/** Returns the instructions if the conversation has just begun and has no tools, because later requests may repeat only the instructions. */
export function findSinglePrompt(body: JsonObject): { instructions: unknown } | undefined {
  const { tools, toolConfig, system, instructions } = body
  const turns = listTurns(body)
  if (isNonEmpty(tools) || toolConfig !== undefined || turns.some(isAnswer)) return undefined
  return { instructions: [system, instructions, turns.filter(isInstruction)] }
}

const isNonEmpty = (list: unknown) => Array.isArray(list) && list.length > 0

const listTurns = ({ messages, input }: JsonObject): JsonObject[] =>
  [messages, input].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))

const isAnswer = ({ role, type }: JsonObject): boolean =>
  role === 'assistant' || type === 'function_call' || type === 'custom_tool_call'
const isInstruction = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer'

/** A block in a conversation: the index of its message and its index within that message. */
interface Place {
  message: number
  block: number
}

/**
 * Finds where this request and the previous one end: at the last eligible block of the last user or tool message. The previous request ended before
 * the model's last response. A breakpoint at the previous request's end always finds that request's cache entry, no matter what follows.
 */
function findEnds(messages: readonly unknown[], isEligible: (block: unknown) => boolean) {
  const isUserTurn = (message: unknown) => isObject(message) && !isAnswer(message) && !isInstruction(message)
  const lastResponse = messages.findLastIndex((message) => isObject(message) && isAnswer(message))
  const findPlace = (end: number): Place | undefined => {
    const message = messages.slice(0, end).findLastIndex(isUserTurn)
    const block = toBlocks(Object(messages[message]).content).findLastIndex(isEligible)
    return block < 0 ? undefined : { message, block }
  }
  return { previous: lastResponse < 0 ? undefined : findPlace(lastResponse), end: findPlace(messages.length) }
}

const toBlocks = (content: unknown): unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []

/** Changes the blocks at these places. Starts with the last place, so added blocks don't shift the other places. */
function changeBlocks(
  messages: readonly unknown[],
  places: ReadonlyArray<Place | undefined>,
  change: (block: JsonObject) => unknown[],
): unknown[] {
  const changed = [...messages]
  const distinct = places.filter(
    (place, index) =>
      place && places.findIndex((other) => other?.message === place.message && other.block === place.block) === index,
  )
  for (const place of distinct.reverse()) {
    const message = place && changed[place.message]
    if (!place || !isObject(message)) continue
    const blocks = toBlocks(message.content)
    const block = blocks[place.block]
    if (isObject(block)) blocks.splice(place.block, 1, ...change(block))
    changed[place.message] = { ...message, content: [...blocks] }
  }
  return changed
}

const hasWords = (text: unknown): boolean => typeof text === 'string' && text.trim() !== ''

const createBreakpoint = (ttl?: PromptCacheTtl) => ({
  cache_control: { type: 'ephemeral', ...(ttl === '1h' && { ttl }) },
})

const CACHEABLE_BLOCK_TYPES = new Set<unknown>(['image', 'document', 'search_result', 'tool_result', 'tool_use'])
const isCacheableBlock = (block: unknown): boolean =>
  isObject(block) && (block.type === 'text' ? hasWords(block.text) : CACHEABLE_BLOCK_TYPES.has(block.type))

/** Maximum distance between breakpoints, in blocks. The API looks for an entry at most 20 blocks before a breakpoint. */
const LOOKBACK_BLOCKS = 18

function addMessagesBreakpoints(
  body: JsonObject,
  { tools: acceptsTools, topLevel }: BreakpointTraits,
  options: BreakpointOptions,
): EditedFields {
  const { ttl, isPassThrough, onlyInstructions } = options
  const fields: EditedFields = {}
  const { tools, system } = body
  const messages: unknown[] = Array.isArray(body.messages) ? body.messages : []
  if (acceptsTools && Array.isArray(tools)) {
    const last = tools.findLastIndex((tool) => isObject(tool) && tool.defer_loading !== true)
    if (last >= 0) fields.tools = tools.with(last, { ...tools[last], ...createBreakpoint(ttl) })
  }
  const texts = toBlocks(system)
  const last = texts.findLastIndex(isCacheableBlock)
  if (last >= 0) fields.system = texts.with(last, { ...Object(texts[last]), ...createBreakpoint(ttl) })
  if (onlyInstructions) return fields
  const { previous, end } = findEnds(messages, isCacheableBlock)
  const addTo = (block: JsonObject) => [{ ...block, ...createBreakpoint() }]
  if (topLevel && isPassThrough) {
    if (previous && end && countBlocks(messages, previous, end) > LOOKBACK_BLOCKS)
      fields.messages = changeBlocks(messages, [previous], addTo)
    if (end) fields.cache_control = createBreakpoint().cache_control
  } else if (end) fields.messages = changeBlocks(messages, [previous, end], addTo)
  return fields
}

const countBlocks = (messages: readonly unknown[], from: Place, to: Place): number =>
  messages
    .slice(from.message, to.message)
    .reduce<number>((sum, message) => sum + toBlocks(Object(message).content).length, to.block - from.block)

const CONVERSE_BLOCKS = ['image', 'document', 'searchResult', 'toolResult', 'toolUse']
const isCacheableConverseBlock = (block: unknown): boolean =>
  isObject(block) && (hasWords(block.text) || CONVERSE_BLOCKS.some((name) => name in block))

function addConverseBreakpoints(
  body: JsonObject,
  { tools: acceptsTools }: BreakpointTraits,
  options: BreakpointOptions,
): EditedFields {
  const { ttl, onlyInstructions } = options
  const createPoint = (lifetime?: PromptCacheTtl) => ({
    cachePoint: { type: 'default', ...(lifetime === '1h' && { ttl: lifetime }) },
  })
  const fields: EditedFields = {}
  const { toolConfig, system, messages } = body
  if (acceptsTools && isObject(toolConfig) && Array.isArray(toolConfig.tools) && toolConfig.tools.length > 0)
    fields.toolConfig = { ...toolConfig, tools: [...toolConfig.tools, createPoint(ttl)] }
  if (Array.isArray(system) && system.some(isCacheableConverseBlock)) fields.system = [...system, createPoint(ttl)]
  if (onlyInstructions || !Array.isArray(messages)) return fields
  const { previous, end } = findEnds(messages, isCacheableConverseBlock)
  fields.messages = changeBlocks(messages, [previous, end], (block) => [block, createPoint()])
  return fields
}

const isChatText = (part: unknown): boolean => isObject(part) && part.type === 'text' && hasWords(part.text)

function addChatBreakpoints(body: JsonObject, { ttl, onlyInstructions }: BreakpointOptions): EditedFields {
  const { messages } = body
  if (!Array.isArray(messages)) return {}
  const system = findInstructions(messages, isChatText)
  const changed = changeBlocks(messages, [system], (part) => [{ ...part, ...createBreakpoint(ttl) }])
  if (onlyInstructions) return system ? { messages: changed } : {}
  const { previous, end } = findEnds(messages, isChatText)
  return { messages: changeBlocks(changed, [previous, end], (part) => [{ ...part, ...createBreakpoint() }]) }
}

/** Finds the last text in the instructions at the start of the conversation. */
function findInstructions(messages: readonly unknown[], isEligible: (block: unknown) => boolean): Place | undefined {
  const first = messages.findIndex((message) => !isObject(message) || !isInstruction(message))
  const message = (first < 0 ? messages.length : first) - 1
  const block = toBlocks(Object(messages[message]).content).findLastIndex(isEligible)
  return block < 0 ? undefined : { message, block }
}

const EXPLICIT_BREAKPOINT = { prompt_cache_breakpoint: { mode: 'explicit' } }

/** Adds a breakpoint at the end of the instructions. The model caches the rest of the conversation on its own. */
function addChatInstructionsBreakpoint({ messages }: JsonObject): EditedFields {
  const list: unknown[] = Array.isArray(messages) ? messages : []
  const place = findInstructions(list, isChatText)
  return place ? { messages: changeBlocks(list, [place], (part) => [{ ...part, ...EXPLICIT_BREAKPOINT }]) } : {}
}

function addResponsesInstructionsBreakpoint({ instructions, input, prompt }: JsonObject): EditedFields {
  const items: unknown[] = Array.isArray(input) ? input : [{ type: 'message', role: 'user', content: input }]
  if (hasWords(instructions)) {
    if (isObject(prompt)) return {} // the prompt's messages are inserted between the instructions and the input
    const content = [{ type: 'input_text', text: instructions, ...EXPLICIT_BREAKPOINT }]
    return { instructions: undefined, input: [{ type: 'message', role: 'developer', content }, ...items] }
  }
  const texts = items.map((item) =>
    isObject(item) && typeof item.content === 'string'
      ? { ...item, content: [{ type: 'input_text', text: item.content }] }
      : item,
  )
  const place = findInstructions(texts, (part) => isObject(part) && part.type === 'input_text' && hasWords(part.text))
  if (!place) return {}
  const changed = changeBlocks(texts, [place], (part) => [{ ...part, ...EXPLICIT_BREAKPOINT }])
  return { input: items.with(place.message, changed[place.message]) }
}
