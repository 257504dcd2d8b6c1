import { isObject, type JsonObject } from '../lib/json.ts'
import type { ModelCall } from './codec/model-call.ts'
import type { RequestFacts } from './routing/routing-facts.ts'

/** Headers that contain the client's session; the first one that is present counts. */
const SESSION_HEADERS = ['x-signalbox-session', 'x-session-id']

/** Reads the request facts that combos use to choose, in any client format. */
export function readFacts(
  { model, stream: isStreaming, bytes, body }: Pick<ModelCall, 'model' | 'stream' | 'bytes' | 'body'>,
  { owner, header, functions }: Pick<RequestFacts, 'owner' | 'header'> & Partial<Pick<RequestFacts, 'functions'>>,
): RequestFacts {
  let session: string | undefined
  let images: boolean | undefined
  return {
    model,
    isStreaming,
    bytes,
    header,
    owner,
    functions,
    hasTools: () => isNonEmpty(body.tools) || isNonEmpty(body.functions),
    hasImages() {
      images ??= getMessages(body).some((message) => containsImage(message, MAX_DEPTH))
      return images
    },
    getMetadata: () => (isObject(body.metadata) ? body.metadata : {}),
    getSession() {
      session ??= findSession(body, header)
      return session
    },
  }
}

/** Gemini also accepts a single object instead of a list. */
const isNonEmpty = (value: unknown) =>
  Array.isArray(value) ? value.length > 0 : isObject(value) && Object.keys(value).length > 0

/** Returns the conversation. Its field's name depends on the format. */
function getMessages(body: JsonObject): readonly unknown[] {
  const messages = body.messages ?? body.input ?? body.contents ?? body.prompt // the last field is the AI SDK's
  return Array.isArray(messages) ? messages : messages === undefined ? [] : [messages]
}

/** Maximum depth to search; enough for an image in a tool result in a message. */
const MAX_DEPTH = 8

const IMAGE_TYPES = new Set<unknown>(['image_url', 'input_image', 'image', 'image-url']) // the last type is from AI SDK 6

function containsImage(value: unknown, depth: number): boolean {
  if (depth === 0) return false
  if (Array.isArray(value)) return value.some((item) => containsImage(item, depth - 1))
  if (!isObject(value)) return false
  const { type, mimeType, mime_type, mediaType } = value
  if (IMAGE_TYPES.has(type) || [mimeType, mime_type, mediaType].some(isImageType)) return true
  return Object.values(value).some((item) => typeof item === 'object' && containsImage(item, depth - 1))
}

const isImageType = (value: unknown) => typeof value === 'string' && /^image(?:\/|$)/.test(value)

/**
 * Returns the session or user ID that the client sends, or else the start of the conversation. Providers cache prompt prefixes, so the conversation's
 * next request is cheaper at the same target.
 */
function findSession(body: JsonObject, header: RequestFacts['header']): string {
  const metadata = isObject(body.metadata) ? body.metadata : {}
  const { prompt_cache_key, user, safety_identifier } = body // the last field is OpenAI's replacement for `user`
  const sessionIds = [...SESSION_HEADERS.map(header), prompt_cache_key, user, safety_identifier, metadata.user_id]
  return (
    sessionIds.find((value): value is string => typeof value === 'string' && value.trim() !== '') ??
    getConversationStart(body)
  )
}

function getConversationStart(body: JsonObject): string {
  const messages = getMessages(body)
  const firstUserIndex = messages.findIndex((message) => !isObject(message) || (message.role ?? 'user') === 'user')
  const firstMessages = messages.slice(0, firstUserIndex < 0 ? 1 : firstUserIndex + 1)
  const system = body.system ?? body.instructions ?? body.systemInstruction
  return firstMessages.length === 0 && system === undefined
    ? ''
    : JSON.stringify([system, firstMessages], shortenText).replace(BILLING_PATTERN, '')
}

/** Matches the billing line that Claude Code adds before its instructions, because it differs in each request. */
const BILLING_PATTERN = /x-anthropic-billing-header:[^"\\]*/

/** Shortens a long string to its length and its two ends. Conversations that differ only in the middle may share a target. */
const shortenText = (_: string, value: unknown) =>
  typeof value === 'string' && value.length > 2 * MAX_END_LENGTH
    ? [value.length, value.slice(0, MAX_END_LENGTH), value.slice(-MAX_END_LENGTH)]
    : value

const MAX_END_LENGTH = 500
