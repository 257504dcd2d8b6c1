import type { JsonObject } from '../lib/json.ts'

/** The tokens that a model family counts in addition to a request's text. Absent counts add none. */
export interface Additions {
  /** Matches lowercase model names. */
  readonly models: RegExp
  /** The family's tokens for a string, as a multiple of `countMaxTokens`. Default: 1. */
  readonly factor?: number
  /** Tokens added to each request, for the chat template and the vendor's instructions. */
  readonly base: number
  /** Tokens added if there are tools, for their instructions. */
  readonly tools?: number
  readonly perTool?: number
  /** Tokens added if the response must be JSON or match a schema. */
  readonly schema?: number
  /** Tokens added if citations are enabled. */
  readonly citations?: number
  /** Tokens added for each `$ref` in a schema, because some vendors inline its definition. */
  readonly perReference?: number
  /** Tokens added for each image. Default: `TOKENS_PER_IMAGE`. */
  readonly image?: number
}

/**
 * The first matching family applies. The numbers are rounded up from recorded responses, so the total is never less than the provider's count
 * (test/usage/input-bound.test.ts).
 */
export const modelAdditions: readonly Additions[] = [
  {
    models: /claude-(?:v?[12]\b|instant|3)/,
    factor: 1.5,
    base: 110,
    tools: 540,
    perTool: 5,
    schema: 530,
    citations: 490,
  },
  { models: /claude/, factor: 1.3, base: 70, tools: 540, perTool: 5, schema: 530, citations: 490, image: 4_800 },
  { models: /gemini|gemma/, base: 4, perTool: 28, schema: 14, perReference: 60, image: 4_200 },
  { models: /gpt-oss/, base: 75, schema: 35 },
  { models: /gpt-4o-mini/, base: 22, tools: 200, image: 48_200 },
  { models: /gpt-4o/, base: 22, tools: 200 },
  { models: /\bo[134](?:-|$)/, base: 60, tools: 35, image: 3_800 },
  { models: /gpt-|codex|davinci|babbage/, base: 14, tools: 55, image: 3_800 },
  { models: /grok/, base: 195, tools: 40, schema: 10 },
  { models: /deepseek/, base: 96, tools: 205 },
  { models: /llama-?4/, base: 50, tools: 630 },
  { models: /llama/, base: 45, tools: 195 },
  {
    models: /m[ia]n?istral|mixtral|pixtral|codestral|magistral|voxtral|devstral|mistral/,
    base: 16,
    tools: 18,
    perTool: 5,
    image: 4_200,
  },
  { models: /nova-2/, base: 90, tools: 780 },
  { models: /nova/, base: 10, tools: 330, perTool: 8 },
  { models: /glm/, base: 14, tools: 90 },
  { models: /qwen[\d.-]{0,5}coder/, base: 30, tools: 230, schema: 205 },
  { models: /qwen/, base: 25, tools: 120, schema: 205 },
  { models: /minimax/, base: 40, tools: 200 },
  { models: /compound/, base: 14_100 },
]

/** For unknown models: a short template and common tool instructions. */
export const unknownAdditions: Additions = { models: /^/, base: 16, tools: 200, schema: 40 }

/**
 * The tokens for the instructions and results of vendor-run tools, from recorded responses. They aren't an upper bound, because a model may search
 * repeatedly. The provider's reported usage is what counts.
 */
const vendorTools: ReadonlyArray<readonly [names: RegExp, tokens: number]> = [
  [/web_?search|googleSearchRetrieval|^x_search/i, 35_000],
  [/web_?fetch|url_?context/i, 30_000],
  [/file_?search/i, 16_000],
  [/code_?execution/i, 17_500],
  [/code_?interpreter/i, 4_200],
  [/google_?(?:search|maps)/i, 600],
  [/^mcp/i, 8_000],
  [/computer/i, 1_300],
  [/text_editor/i, 800],
  [/bash|shell/i, 400],
  [/memory/i, 1_700],
  [/tool_search/i, 1_800],
  [/advisor/i, 2_600],
  [/image_generation/i, 2_000],
  [/system_?tool|nova_/i, 1_000],
]

/** Counts a vendor-run tool's tokens. Returns 0 for the client's own tools. */
export function countVendorToolTokens(tool: JsonObject): number {
  const { type, id } = tool // the AI SDK sends an ID, such as `openai.code_interpreter`
  const kind = type === 'provider' && typeof id === 'string' ? id.slice(id.indexOf('.') + 1) : type
  const names = typeof kind === 'string' && kind !== 'function' ? [kind] : Object.keys(tool)
  const vendorTool = vendorTools.find(([pattern]) => names.some((name) => pattern.test(name)))
  return vendorTool ? vendorTool[1] : 0
}
