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
export function addBreakpoints(body: JsonObject, traits: BreakpointTraits, options: BreakpointOptions): EditedFields {
  switch (traits.form) {
    case 'messages':
      return addMessagesBreakpoints(body, traits, options)
    case 'converse':
      return addConverseBreakpoints(body, traits, options)
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
  if (isNonEmptyList(tools) || toolConfig !== undefined || turns.some(isResponse)) return undefined
  return { instructions: [system, instructions, turns.filter(isInstruction)] }
}

const isNonEmptyList = (list: unknown) => Array.isArray(list) && list.length > 0

const listTurns = ({ messages, input }: JsonObject): JsonObject[] =>
  [messages, input].flatMap((list) => (Array.isArray(list) ? list.filter(isObject) : []))

const isResponse = ({ role, type }: JsonObject): boolean =>
  role === 'assistant' || type === 'function_call' || type === 'custom_tool_call'
const isInstruction = ({ role }: JsonObject): boolean => role === 'system' || role === 'developer'

/** A block in a conversation: the index of its message and its index within that message. */
interface BlockPosition {
  message: number
  block: number
}

/**
 * Finds where this request and the previous one end: at the last eligible block of the last user or tool message. The previous request ended before
 * the model's last response. A breakpoint at the previous request's end always finds that request's cache entry, no matter what follows.
 */
function findTurnEnds(messages: readonly unknown[], isEligible: (block: unknown) => boolean) {
  const isUserTurn = (message: unknown) => isObject(message) && !isResponse(message) && !isInstruction(message)
  const lastResponse = messages.findLastIndex((message) => isObject(message) && isResponse(message))
  const findPosition = (end: number): BlockPosition | undefined => {
    const message = messages.slice(0, end).findLastIndex(isUserTurn)
    const block = toBlocks(Object(messages[message]).content).findLastIndex(isEligible)
    return block < 0 ? undefined : { message, block }
  }
  return { previous: lastResponse < 0 ? undefined : findPosition(lastResponse), end: findPosition(messages.length) }
}

const toBlocks = (content: unknown): unknown[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : Array.isArray(content) ? content : []

/** Changes the blocks at these places. Starts with the last place, so added blocks don't shift the other places. */
function changeBlocks(
  messages: readonly unknown[],
  positions: ReadonlyArray<BlockPosition | undefined>,
  transform: (block: JsonObject) => unknown[],
): unknown[] {
  const changedMessages = [...messages]
  const distinctPositions = positions.filter(
    (position, index) =>
      position &&
      positions.findIndex((other) => other?.message === position.message && other.block === position.block) === index,
  )
  for (const position of distinctPositions.reverse()) {
    const message = position && changedMessages[position.message]
    if (!position || !isObject(message)) continue
    const blocks = toBlocks(message.content)
    const block = blocks[position.block]
    if (isObject(block)) blocks.splice(position.block, 1, ...transform(block))
    changedMessages[position.message] = { ...message, content: [...blocks] }
  }
  return changedMessages
}

const isNonBlankText = (text: unknown): boolean => typeof text === 'string' && text.trim() !== ''

const createBreakpoint = (ttl?: PromptCacheTtl) => ({
  cache_control: { type: 'ephemeral', ...(ttl === '1h' && { ttl }) },
})

const CACHEABLE_BLOCK_TYPES = new Set<unknown>(['image', 'document', 'search_result', 'tool_result', 'tool_use'])
const isCacheableBlock = (block: unknown): boolean =>
  isObject(block) && (block.type === 'text' ? isNonBlankText(block.text) : CACHEABLE_BLOCK_TYPES.has(block.type))

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
    const lastToolIndex = tools.findLastIndex((tool) => isObject(tool) && tool.defer_loading !== true)
    if (lastToolIndex >= 0)
      fields.tools = tools.with(lastToolIndex, { ...tools[lastToolIndex], ...createBreakpoint(ttl) })
  }
  const systemBlocks = toBlocks(system)
  const lastBlockIndex = systemBlocks.findLastIndex(isCacheableBlock)
  if (lastBlockIndex >= 0)
    fields.system = systemBlocks.with(lastBlockIndex, {
      ...Object(systemBlocks[lastBlockIndex]),
      ...createBreakpoint(ttl),
    })
  if (onlyInstructions) return fields
  const { previous, end } = findTurnEnds(messages, isCacheableBlock)
  const addBreakpoint = (block: JsonObject) => [{ ...block, ...createBreakpoint() }]
  if (topLevel && isPassThrough) {
    if (previous && end && countBlocks(messages, previous, end) > LOOKBACK_BLOCKS)
      fields.messages = changeBlocks(messages, [previous], addBreakpoint)
    if (end) fields.cache_control = createBreakpoint().cache_control
  } else if (end) fields.messages = changeBlocks(messages, [previous, end], addBreakpoint)
  return fields
}

const countBlocks = (messages: readonly unknown[], from: BlockPosition, to: BlockPosition): number =>
  messages
    .slice(from.message, to.message)
    .reduce<number>((sum, message) => sum + toBlocks(Object(message).content).length, to.block - from.block)

const CONVERSE_BLOCKS = ['image', 'document', 'searchResult', 'toolResult', 'toolUse']
const isCacheableConverseBlock = (block: unknown): boolean =>
  isObject(block) && (isNonBlankText(block.text) || CONVERSE_BLOCKS.some((name) => name in block))

function addConverseBreakpoints(
  body: JsonObject,
  { tools: acceptsTools }: BreakpointTraits,
  options: BreakpointOptions,
): EditedFields {
  const { ttl, onlyInstructions } = options
  const createCachePoint = (lifetime?: PromptCacheTtl) => ({
    cachePoint: { type: 'default', ...(lifetime === '1h' && { ttl: lifetime }) },
  })
  const fields: EditedFields = {}
  const { toolConfig, system, messages } = body
  if (acceptsTools && isObject(toolConfig) && Array.isArray(toolConfig.tools) && toolConfig.tools.length > 0)
    fields.toolConfig = { ...toolConfig, tools: [...toolConfig.tools, createCachePoint(ttl)] }
  if (Array.isArray(system) && system.some(isCacheableConverseBlock)) fields.system = [...system, createCachePoint(ttl)]
  if (onlyInstructions || !Array.isArray(messages)) return fields
  const { previous, end } = findTurnEnds(messages, isCacheableConverseBlock)
  fields.messages = changeBlocks(messages, [previous, end], (block) => [block, createCachePoint()])
  return fields
}

const isChatText = (part: unknown): boolean => isObject(part) && part.type === 'text' && isNonBlankText(part.text)

function addChatBreakpoints(body: JsonObject, { ttl, onlyInstructions }: BreakpointOptions): EditedFields {
  const { messages } = body
  if (!Array.isArray(messages)) return {}
  const instructionsPosition = findInstructions(messages, isChatText)
  const changedMessages = changeBlocks(messages, [instructionsPosition], (part) => [
    { ...part, ...createBreakpoint(ttl) },
  ])
  if (onlyInstructions) return instructionsPosition ? { messages: changedMessages } : {}
  const { previous, end } = findTurnEnds(messages, isChatText)
  return { messages: changeBlocks(changedMessages, [previous, end], (part) => [{ ...part, ...createBreakpoint() }]) }
}

/** Finds the last text in the instructions at the start of the conversation. */
function findInstructions(
  messages: readonly unknown[],
  isEligible: (block: unknown) => boolean,
): BlockPosition | undefined {
  const first = messages.findIndex((message) => !isObject(message) || !isInstruction(message))
  const message = (first < 0 ? messages.length : first) - 1
  const block = toBlocks(Object(messages[message]).content).findLastIndex(isEligible)
  return block < 0 ? undefined : { message, block }
}

const EXPLICIT_BREAKPOINT = { prompt_cache_breakpoint: { mode: 'explicit' } }

/** Adds a breakpoint at the end of the instructions. The model caches the rest of the conversation on its own. */
function addChatInstructionsBreakpoint({ messages }: JsonObject): EditedFields {
  const messageList: unknown[] = Array.isArray(messages) ? messages : []
  const position = findInstructions(messageList, isChatText)
  return position
    ? { messages: changeBlocks(messageList, [position], (part) => [{ ...part, ...EXPLICIT_BREAKPOINT }]) }
    : {}
}

function addResponsesInstructionsBreakpoint({ instructions, input, prompt }: JsonObject): EditedFields {
  const items: unknown[] = Array.isArray(input) ? input : [{ type: 'message', role: 'user', content: input }]
  if (isNonBlankText(instructions)) {
    if (isObject(prompt)) return {} // the prompt's messages are inserted between the instructions and the input
    const content = [{ type: 'input_text', text: instructions, ...EXPLICIT_BREAKPOINT }]
    return { instructions: undefined, input: [{ type: 'message', role: 'developer', content }, ...items] }
  }
  const normalizedItems = items.map((item) =>
    isObject(item) && typeof item.content === 'string'
      ? { ...item, content: [{ type: 'input_text', text: item.content }] }
      : item,
  )
  const position = findInstructions(
    normalizedItems,
    (part) => isObject(part) && part.type === 'input_text' && isNonBlankText(part.text),
  )
  if (!position) return {}
  const changedItems = changeBlocks(normalizedItems, [position], (part) => [{ ...part, ...EXPLICIT_BREAKPOINT }])
  return { input: items.with(position.message, changedItems[position.message]) }
}
