import type OpenAI from 'openai'
import type {
  WireAssistantMessage,
  WireDelta,
  WireFinish,
  WireResponse,
  WireSystemMessage,
  WireTextPart,
  WireTool,
  WireToolChoice,
  WireToolMessage,
  WireUsage,
  WireUserPart,
  WireVideoPart,
} from '../../../src/protocols/formats/openai-chat/chat-wire.ts'
import { assert, suite } from '../../support/suite.ts'

type Chat = OpenAI.Chat.Completions.ChatCompletionChunk.Choice.Delta

/** Compiles only if OpenAI's client accepts everything that the writers of this format produce. */
type Fits<_Ours extends Theirs, Theirs> = true

/** Removes fields that only other vendors have. */
type PlainUserPart = Exclude<WireUserPart, WireVideoPart>
type PlainAssistant = Omit<WireAssistantMessage, 'content'> & { content: string | null | WireTextPart[] }

const fits: [
  Fits<WireResponse, OpenAI.ChatCompletion>,
  Fits<WireFinish, OpenAI.ChatCompletion.Choice['finish_reason']>,
  Fits<WireDelta, Chat>,
  Fits<WireUsage, OpenAI.CompletionUsage>,
  Fits<WireSystemMessage, OpenAI.ChatCompletionSystemMessageParam | OpenAI.ChatCompletionDeveloperMessageParam>,
  Fits<PlainUserPart, OpenAI.ChatCompletionContentPart>,
  Fits<PlainAssistant, OpenAI.ChatCompletionAssistantMessageParam>,
  Fits<WireToolMessage, OpenAI.ChatCompletionToolMessageParam>,
  Fits<WireTool, OpenAI.ChatCompletionTool>,
  Fits<WireToolChoice, OpenAI.ChatCompletionToolChoiceOption>,
] = [true, true, true, true, true, true, true, true, true, true]

const test = suite('Chat Completions types')

test("the Chat Completions types match OpenAI's client library", () => assert.ok(fits.every(Boolean)))
