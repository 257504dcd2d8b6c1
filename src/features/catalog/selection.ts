import type { Price } from '../../types.ts'

/**
 * Selects which of the source's models to include in the catalog. Models that the provider doesn't serve, deprecated models, and video models are
 * always excluded.
 */
export interface Selection {
  /** The provider's ID in the source. */
  from: string
  /** Includes only models released at most this many months before the data's date. For hosts that list hundreds of models. */
  months?: number
  /** Includes only language models that support tools. */
  tools?: true
  /** Includes only IDs that match. */
  keep?: RegExp
  /** Excludes IDs that match. */
  drop?: RegExp
  /** IDs to include despite `months`, `tools`, and `drop`. */
  always?: readonly string[]
  /** Matches the IDs of free models. For all other models, a price of zero means that the source doesn't know the price. */
  freeModels?: RegExp
  /** Only matching IDs get a price. The prices of all others depend on the host that serves the request. */
  pricedModels?: RegExp
  /** Matches IDs whose cache write price is actually a price for cache storage over time. */
  storagePriced?: RegExp
  /** Prices that the source lacks, by ID. */
  addedPrices?: Readonly<Record<string, Price>>
}

/** Vendors whose models are popular on other hosts. */
const popularVendors =
  /^(?:anthropic|openai|google|x-ai|spacexai|deepseek|mistral(?:ai)?|qwen|alibaba|moonshotai|z-?ai|minimax|meta|nvidia|xiaomi)\//

/** Older open models that are still in demand. */
const openWeightModels = [
  'openai/gpt-oss-120b',
  'openai/gpt-oss-20b',
  'meta-llama/Llama-3.3-70B-Instruct',
  'meta-llama/Llama-3.3-70B-Instruct-Turbo',
]

/** Models that only their vendor serves, at the same price through every gateway. */
const closedModels =
  /^(?:anthropic\/|google\/gemini|openai\/(?:gpt-\d|o\d|chat)|x-ai\/|spacexai\/|meta\/muse-(?:ember|wonder|spark-\d))/

/** The selections by provider ID. Providers without a selection have only the models in catalog.extra.ts. */
export const selections: Readonly<Record<string, Selection>> = {
  openai: {
    from: 'openai',
    // Realtime models need a WebSocket; Cyber and Daybreak need an invitation; gpt-image-1 shuts down on 2026-12-01.
    drop: /realtime|cyber|daybreak|^gpt-4o-20|^gpt-image-1|^chatgpt-image|^gpt-5-chat/,
    // From https://developers.openai.com/api/docs/pricing. The source has the tiers above 272,000 tokens, which double the input price and raise the
    // output price by half. See https://developers.openai.com/api/docs/models/gpt-6.1-sol and, for GPT-5.6,
    // https://docs.laozhang.ai/en/announcements/gpt-5-6-pricing-2026-07.
    addedPrices: { 'gpt-image-2': { imageInput: 8 } },
  },
  anthropic: {
    from: 'anthropic',
    // These prices are for the one-million-token context window beta, which the source omits.
    addedPrices: Object.fromEntries(
      ['claude-sonnet-4-5', 'claude-sonnet-4-5-20250929'].map((id) => [
        id,
        { tiers: [{ above: 200_000, input: 6, output: 22.5, cacheRead: 0.6, cacheWrite: 7.5 }] },
      ]),
    ),
  },
  google: {
    from: 'google',
    // These models don't support plain content requests, and `-latest` names have no fixed price.
    drop: /live|deep-research|computer-use|robotics|lyria|customtools|-latest$|image-preview$/,
    // The source has only image prices. Text is priced like the text models of the same generation: https://ai.google.dev/gemini-api/docs/pricing.
    // The price of 12 is from https://modelpedia.dev/google/gemini-3-pro-image-preview, 2026.
    addedPrices: {
      'gemini-3-pro-image': { output: 12 },
      'gemini-3.1-flash-image': { output: 3 },
      'gemini-2.5-flash-image': { output: 2.5 },
    },
  },
  mistral: { from: 'mistral', drop: /^glm-|^open-|^labs-|pixtral|mixtral|nemo$|-2411$|-250\d$|-4-0-8$/ },
  deepseek: { from: 'deepseek' },
  xai: { from: 'xai', drop: /multi-agent/ },
  cohere: { from: 'cohere', drop: /^c4ai-|translate|arabic/ },
  'perplexity-agent': { from: 'perplexity-agent', months: 8, always: ['perplexity/sonar'] },
  moonshot: { from: 'moonshotai' },
  zai: { from: 'zai', months: 12, freeModels: /^glm-4\.\dv?-flash$/ },
  alibaba: {
    from: 'alibaba',
    months: 9,
    drop: /realtime|livetranslate|-preview$/,
    always: [
      'qwen3-max',
      'qwen3-coder-plus',
      'qwen3-coder-flash',
      'qwen3-vl-plus',
      'qwen-plus',
      'qwen-flash',
      'qwen-vl-ocr',
    ],
  },
  minimax: { from: 'minimax' },
  meta: { from: 'meta' },
  xiaomi: { from: 'xiaomi' },
  stepfun: { from: 'stepfun-ai', drop: /^step-[12]-/ },
  inception: { from: 'inception' },
  openrouter: {
    from: 'openrouter',
    months: 8,
    tools: true,
    keep: popularVendors,
    drop: /:batch$|^openai\/\S+-pro$|latest$|banana/,
    always: [
      'anthropic/claude-sonnet-4.5',
      'anthropic/claude-haiku-4.5',
      'openai/gpt-5',
      'openai/gpt-5-mini',
      'openai/gpt-4o-mini',
      'openai/gpt-oss-120b',
      'google/gemini-2.5-pro',
      'google/gemini-2.5-flash',
      'meta-llama/llama-3.3-70b-instruct',
    ],
    freeModels: /:free$/,
    pricedModels: closedModels,
    storagePriced: /^google\//,
  },
  vercel: {
    from: 'vercel',
    months: 6,
    tools: true,
    keep: popularVendors,
    drop: /-(?:batch|fast|ultrafast|free|contributor)$|voice/,
    pricedModels: closedModels,
    storagePriced: /^google\//,
  },
  groq: { from: 'groq', drop: /^groq\/|guard|allam/ },
  cerebras: { from: 'cerebras' },
  together: { from: 'togetherai', tools: true },
  fireworks: { from: 'fireworks-ai', drop: /\/routers\// },
  deepinfra: { from: 'deepinfra', months: 9, tools: true, always: openWeightModels },
  huggingface: { from: 'huggingface', months: 9, tools: true, always: openWeightModels },
  // This is a trial service, which isn't billed by token.
  'nvidia-nim': { from: 'nvidia', months: 12, tools: true, pricedModels: /^$/ },
  nebius: { from: 'nebius', months: 12 },
  novita: { from: 'novita-ai', months: 7, always: ['deepseek/deepseek-ocr-2', 'openai/gpt-oss-120b'] },
  siliconflow: { from: 'siliconflow', months: 7 },
  baseten: { from: 'baseten', drop: /-Fast$/ },
  scaleway: { from: 'scaleway', months: 18, always: ['whisper-large-v3'] },
  lmstudio: { from: 'lmstudio', freeModels: /./ },
}
