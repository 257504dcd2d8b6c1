import { isObject, type JsonObject } from '../../lib/json.ts'
import type { ClientFormat } from '../../types.ts'
import type { Endpoint, RequestBound } from '../formats/format.ts'
import { geminiBound } from '../formats/gemini/gemini-limits.ts'
import type { OperationName } from '../formats/model-operations.ts'
import { readResponseCount } from '../formats/request-numbers.ts'
import { imageBound } from './image/image-bound.ts'
import { rerankBound } from './rerank/rerank-bound.ts'
import { speechBound } from './speech/speech-bound.ts'
import { transcriptionBound } from './transcription/transcription-bound.ts'
import { searchBound } from './web-search/web-search-bound.ts'

/** Returns how many responses are generated. Some servers generate `best_of` and send the best `n`, even for chats. */
const countResponses = ({ n, best_of: bestOf }: JsonObject) => Math.max(readResponseCount(n), readResponseCount(bestOf))

/** Counts a completion's prompts, which can be a list of strings or of token lists. */
const countPrompts = (prompt: unknown) =>
  Array.isArray(prompt) && typeof prompt[0] !== 'number' ? Math.max(1, prompt.length) : 1

/** Upper bound for the tokens in OpenAI's compaction instructions. Recorded responses report 110. */
const COMPACTION_PROMPT_TOKENS = 150

const FREE_BOUND: RequestBound = { hasNoOutput: true, inputTokens: () => 0 }
const NO_OUTPUT_BOUND: RequestBound = { hasNoOutput: true }

/** Bounds for all operations except chat. Chat bounds depend on the format. */
const bounds: Readonly<Record<Exclude<OperationName, 'generate'>, RequestBound> & Record<string, RequestBound>> = {
  'count-tokens': FREE_BOUND,
  compact: { inputTokens: (_, estimate) => estimate() + COMPACTION_PROMPT_TOKENS },
  complete: { countResponses: (body) => countResponses(body) * countPrompts(body.prompt) },
  embed: NO_OUTPUT_BOUND,
  moderate: NO_OUTPUT_BOUND,
  image: imageBound,
  rerank: rerankBound,
  search: searchBound,
  fetch: {
    ...FREE_BOUND,
    units: ({ urls, provider_options: options }) => ({
      page: (Array.isArray(urls) ? urls.length : 1) * (isObject(options) ? 2 : 1), // some vendors charge double for advanced extraction
    }),
  },
  speak: speechBound,
  transcribe: transcriptionBound,
  translate: transcriptionBound,
  ocr: { ...FREE_BOUND, isBilledOnce: true, units: ({ pages }) => ({ page: countPages(pages) }) },
}

/** Counts the requested pages. Without a list, assumes a thousand, which is the most that a document can have. */
const countPages = (pages: unknown): number => (Array.isArray(pages) && pages.length > 0 ? pages.length : 1_000)

const chatBounds: Readonly<Partial<Record<ClientFormat, RequestBound>>> = {
  'openai-chat': { countResponses },
  gemini: geminiBound,
}

const ONE_RESPONSE_BOUND: RequestBound = {}

/** Returns the maximum usage of an endpoint's requests. Default: one response to the body's content. */
export const getBound = ({ bound, operation, format }: Endpoint): RequestBound =>
  bound ?? bounds[operation.name] ?? chatBounds[format] ?? ONE_RESPONSE_BOUND
