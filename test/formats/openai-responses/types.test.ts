import type { Responses } from 'openai/resources/responses/responses'
import type {
  WireAnnotation,
  WireContent,
  WireFormat,
  WireInputItem,
  WireInputPart,
  WireOutcome,
  WireOutputItem,
  WireOutputPart,
  WireTool,
  WireToolChoice,
  WireUsage,
} from '../../../src/protocols/formats/openai-responses/responses-wire.ts'
import { assert, suite } from '../../support/suite.ts'

/** Compiles only if OpenAI's client accepts everything that the writers of this format produce. */
type Fits<_Ours extends Theirs, Theirs> = true

/** Drops audio, which few providers accept. */
type PlainPart = Exclude<WireInputPart, { type: 'input_audio' }>

/** Adds the IDs that the item types require. Only stored items have IDs, and OpenAI accepts items without them. */
type Message = Extract<WireInputItem, { type: 'message' }>
type Created =
  | Exclude<WireInputItem, Message | Thought | { type: 'function_call_output' | 'custom_tool_call_output' }>
  | (Thought & { id: string })
type Thought = Extract<WireInputItem, { type: 'reasoning' }>
type Input =
  | (Omit<Exclude<Message, { role: 'assistant' }>, 'content'> & { content: string | PlainPart[] })
  | (Omit<Extract<Message, { role: 'assistant' }>, 'content'> & { content: string })
  | { type: 'function_call_output' | 'custom_tool_call_output'; call_id: string; output: string | PlainPart[] }

/** Adds `strict`, which is omitted for vendors that don't support it. */
type StrictTool =
  | Exclude<WireTool, { type: 'function' }>
  | (Extract<WireTool, { type: 'function' }> & { strict: boolean })

/** Narrows error codes, because the client's types allow only OpenAI's own codes. */
type Outcome = Omit<WireOutcome, 'error' | 'usage'>

const fits: [
  Fits<Created | Input, Responses.ResponseInputItem>,
  Fits<PlainPart, Responses.ResponseInputContent>,
  Fits<WireOutputPart, Responses.ResponseOutputText | Responses.ResponseOutputRefusal>,
  Fits<StrictTool, Responses.Tool>,
  Fits<WireToolChoice, NonNullable<Responses.ResponseCreateParams['tool_choice']>>,
  Fits<WireFormat, Responses.ResponseFormatTextConfig>,
  Fits<WireOutputItem, Responses.ResponseOutputItem>,
  Fits<WireContent, Responses.ResponseOutputText | Responses.ResponseOutputRefusal>,
  Fits<WireAnnotation, Responses.ResponseOutputText['annotations'][number]>,
  Fits<WireUsage, Responses.ResponseUsage>,
  Fits<Outcome, Pick<Responses.Response, keyof Outcome>>,
] = [true, true, true, true, true, true, true, true, true, true, true]

const test = suite('Responses types')

test("the Responses types match OpenAI's client library", () => assert.ok(fits.every(Boolean)))
