import type { CatalogModel } from '../../types.ts'

/*
 * Models that are missing from catalog.data.ts because its source doesn't list them. They are maintained by hand, with the source of each fact. Once
 * that source lists an ID, its entry replaces the one here, and the refresh reports that.
 */

/** Manually maintained models, by provider ID. */
export const extraModels: Readonly<Record<string, readonly CatalogModel[]>> = {
  // IDs: https://developers.openai.com/api/docs/models/all, and still served according to https://endoflife.date/openai-api-models, 2026-09-22.
  // Price: https://github.com/pydantic/genai-prices, 2026-08-21.
  openai: [
    // https://github.com/theopenco/llmgateway, 2026-09-08.
    {
      id: 'gpt-image-2.5-sunburst',
      type: 'image',
      price: { input: 5, output: 30, cacheRead: 1.25, imageInput: 8, imageOutput: 30 },
    },
    // Same rates: https://piapi.ai/pipeline-gpt-image-2-5-fixture, 2026-10.
    {
      id: 'gpt-image-2.5-flare',
      type: 'image',
      price: { input: 5, output: 30, cacheRead: 1.25, imageInput: 8, imageOutput: 30 },
    },
    // Being retired but still in use: https://developers.openai.com/api/docs/models/gpt-image-1 and /gpt-image-1-mini, 2026-11.
    {
      id: 'gpt-image-1',
      type: 'image',
      price: { input: 5, output: 40, cacheRead: 1.25, imageInput: 10, imageOutput: 40 },
    },
    {
      id: 'gpt-image-1-mini',
      type: 'image',
      price: { input: 2, output: 8, cacheRead: 0.2, imageInput: 2.5, imageOutput: 8 },
    },
    // Text: https://docs.apiyi.com/en/api-capabilities/gpt-image-1-5; images: https://github.com/Oaklight/onehub_prices, 2026.
    {
      id: 'gpt-image-1.5',
      type: 'image',
      price: { input: 5, output: 10, cacheRead: 1.25, imageInput: 8, imageOutput: 32 },
    },
    { id: 'gpt-4o-mini-tts', type: 'tts', price: { input: 0.6, output: 12 } },
    // Measured: https://github.com/sanand0/blog/blob/main/posts/2025/openai-tts-cost.md.
    { id: 'tts-1', type: 'tts', price: { character: 0.000015 } },
    { id: 'tts-1-hd', type: 'tts', price: { character: 0.00003 } },
    // https://www.getmaxim.ai/bifrost/model-library/compare/openai/gpt-transcribe, November 2026.
    { id: 'gpt-transcribe', type: 'stt', price: { second: 0.0001 } },
    // https://developers.openai.com/api/docs/models/gpt-4o-transcribe and /gpt-4o-mini-transcribe, November 2026.
    { id: 'gpt-4o-transcribe', type: 'stt', price: { input: 2.5, output: 10 } },
    { id: 'gpt-4o-mini-transcribe', type: 'stt', price: { input: 1.25, output: 5 } },
    // https://openrouter.ai/openai/whisper-1, 2026.
    { id: 'whisper-1', type: 'stt', price: { minute: 0.006 } },
    // Free: https://platform.openai.com/docs/guides/moderation.
    { id: 'omni-moderation-latest', type: 'moderation', price: { input: 0 } },
    { id: 'omni-moderation-2024-09-26', type: 'moderation', price: { input: 0 } },
  ],
  // https://elevenlabs.io/docs/overview/models, 2026. Charged in credits, and the price of a credit depends on the plan.
  elevenlabs: [
    { id: 'eleven_v3', type: 'tts' },
    { id: 'eleven_multilingual_v2', type: 'tts' },
    { id: 'eleven_flash_v2_5', type: 'tts' },
    { id: 'scribe_v2', type: 'stt' },
    { id: 'scribe_v1', type: 'stt' },
  ],
  // https://developers.deepgram.com/docs/models-languages-overview and /docs/tts-models, 2026. The voice completes the name `aura-2`.
  deepgram: [
    { id: 'aura-2', type: 'tts' },
    { id: 'aura-2-thalia-en', type: 'tts' },
    { id: 'nova-3', type: 'stt' },
  ],
  // https://docs.mistral.ai/studio/safety-moderation; price: https://hardais.com/models/mistral/moderation, 2026.
  mistral: [
    { id: 'mistral-moderation-2603', type: 'moderation', price: { input: 0.1 } },
    { id: 'mistral-moderation-2411', type: 'moderation', contextWindow: 8192, price: { input: 0.1 } },
  ],
  // https://github.com/pydantic/genai-prices, 2026-08-21; context windows: https://models.dev, 2026-09-30. Reranking:
  // https://docs.cohere.com/changelog/rerank-v5. Version 5 is priced per token: https://openrouter.ai/cohere and
  // https://www.getmaxim.ai/bifrost/model-library, November 2026. The others are priced per search:
  // https://developer.puter.com/tutorials/cohere-api-pricing, June 2026.
  cohere: [
    { id: 'embed-v4.0', type: 'embedding', contextWindow: 128000, price: { input: 0.12 } },
    { id: 'rerank-v5.0-pro', type: 'rerank', contextWindow: 32768, price: { input: 0.05 } },
    { id: 'rerank-v5.0-fast', type: 'rerank', contextWindow: 32768, price: { input: 0.02 } },
    { id: 'rerank-v4.0-pro', type: 'rerank', contextWindow: 32768, price: { search: 0.0025 } },
    { id: 'rerank-v4.0-fast', type: 'rerank', contextWindow: 32768, price: { search: 0.002 } },
    { id: 'rerank-v3.5', type: 'rerank', contextWindow: 4096, price: { search: 0.002 } },
  ],
  // https://openrouter.ai/models?output_modalities=rerank and the pages of these models, November 2026. Responses report their cost.
  openrouter: [
    { id: 'cohere/rerank-5-fast', type: 'rerank', contextWindow: 32768, price: { input: 0.02 } },
    { id: 'cohere/rerank-4-pro', type: 'rerank', contextWindow: 32768, price: { search: 0.0025 } },
    { id: 'voyageai/rerank-2.5', type: 'rerank', contextWindow: 32000, price: { input: 0.05 } },
    { id: 'voyageai/rerank-2.5-lite', type: 'rerank', contextWindow: 32000, price: { input: 0.02 } },
  ],
  // https://www.getmaxim.ai/bifrost/llm-cost-calculator/provider/together_ai, 2026.
  together: [
    { id: 'black-forest-labs/FLUX.1-schnell', type: 'image' },
    { id: 'black-forest-labs/FLUX.1-kontext-pro', type: 'image' },
    { id: 'Salesforce/Llama-Rank-V1', type: 'rerank', contextWindow: 8192, price: { input: 0.1 } },
  ],
  // https://docs.fireworks.ai/api-reference, November 2026.
  fireworks: [
    { id: 'accounts/fireworks/models/flux-1-schnell-fp8', type: 'image' },
    { id: 'accounts/fireworks/models/flux-1-dev-fp8', type: 'image' },
    { id: 'accounts/fireworks/models/flux-kontext-pro', type: 'image' },
    { id: 'accounts/fireworks/models/flux-kontext-max', type: 'image' },
  ],
  // https://docs.bfl.ml/quick_start/pricing, per image. The newer models are priced per megapixel, and their responses report the cost.
  bfl: [
    { id: 'flux-2-pro', type: 'image' },
    { id: 'flux-2-max', type: 'image' },
    { id: 'flux-2-flex', type: 'image' },
    { id: 'flux-kontext-pro', type: 'image', price: { image: 0.04 } },
    { id: 'flux-kontext-max', type: 'image', price: { image: 0.08 } },
    { id: 'flux-pro-1.1', type: 'image', price: { image: 0.04 } },
    { id: 'flux-pro-1.1-ultra', type: 'image', price: { image: 0.06 } },
    { id: 'flux-pro-1.0-fill', type: 'image', price: { image: 0.05 } },
  ],
  // https://docs.aws.amazon.com/bedrock/latest/userguide/rerank-supported.html. A search covers up to a hundred documents (rerank-pricing.html on the
  // same site), and costs the same as at Cohere. Sources differ on the price of Amazon's own model.
  bedrock: [
    { id: 'cohere.rerank-v3-5:0', type: 'rerank', contextWindow: 4096, price: { search: 0.002 } },
    { id: 'amazon.rerank-v1:0', type: 'rerank', contextWindow: 32000 },
  ],
  // Prices: https://cloud.sambanova.ai/plans/pricing, 2026-10-07; context windows:
  // https://docs.sambanova.ai/docs/en/models/sambacloud-models.
  sambanova: [
    { id: 'MiniMax-M3', contextWindow: 1000000, price: { input: 0.6, output: 2.4, cacheRead: 0.06 } },
    { id: 'DeepSeek-V3.2', contextWindow: 32000, price: { input: 3, output: 4.5 } },
    { id: 'DeepSeek-V3.1', contextWindow: 128000, price: { input: 3, output: 4.5 } },
    { id: 'gemma-4-31B-it', price: { input: 0.38, output: 1.15 } },
    { id: 'gpt-oss-120b', contextWindow: 128000, price: { input: 0.22, output: 0.59 } },
    { id: 'Meta-Llama-3.3-70B-Instruct', contextWindow: 128000, price: { input: 0.6, output: 1.2 } },
  ],
  // Context windows: https://docs.voyageai.com/docs/embeddings and https://docs.voyageai.com/docs/reranker; prices:
  // https://github.com/pydantic/genai-prices, 2026-06-18, and https://docs.voyageai.com/docs/pricing, 2026-06-10.
  voyage: [
    { id: 'voyage-4-large', type: 'embedding', contextWindow: 32000, price: { input: 0.12 } },
    { id: 'voyage-4', type: 'embedding', contextWindow: 32000, price: { input: 0.06 } },
    { id: 'voyage-4-lite', type: 'embedding', contextWindow: 32000, price: { input: 0.02 } },
    { id: 'voyage-code-3', type: 'embedding', contextWindow: 32000, price: { input: 0.18 } },
    { id: 'voyage-finance-2', type: 'embedding', contextWindow: 32000, price: { input: 0.12 } },
    { id: 'voyage-law-2', type: 'embedding', contextWindow: 16000, price: { input: 0.12 } },
    { id: 'rerank-2.5', type: 'rerank', contextWindow: 32000, price: { input: 0.05 } },
    { id: 'rerank-2.5-lite', type: 'rerank', contextWindow: 32000, price: { input: 0.02 } },
    { id: 'rerank-2', type: 'rerank', contextWindow: 16000, price: { input: 0.05 } },
    { id: 'rerank-2-lite', type: 'rerank', contextWindow: 8000, price: { input: 0.02 } },
  ],
  // Context windows: https://jina.ai/models, February 2026, and https://qdrant.tech/documentation/embeddings/jina-embeddings. Only the price of
  // jina-reranker-m0 is known: https://www.getmaxim.ai/bifrost/llm-cost-calculator/provider/jina_ai, 2026.
  jina: [
    { id: 'jina-embeddings-v5-text-small', type: 'embedding', contextWindow: 32768 },
    { id: 'jina-embeddings-v5-text-nano', type: 'embedding', contextWindow: 8192 },
    { id: 'jina-embeddings-v4', type: 'embedding', contextWindow: 32768 },
    { id: 'jina-embeddings-v3', type: 'embedding', contextWindow: 8192 },
    { id: 'jina-reranker-v3.5', type: 'rerank', contextWindow: 131072 },
    { id: 'jina-reranker-v3', type: 'rerank', contextWindow: 131072 },
    { id: 'jina-reranker-m0', type: 'rerank', contextWindow: 10240, price: { input: 0.05 } },
    { id: 'jina-reranker-v2-base-multilingual', type: 'rerank', contextWindow: 1024 },
  ],
  // A few models from https://ollama.com/library, free because they run locally; context windows: https://models.dev, 2026-09-30.
  ollama: [
    { id: 'gpt-oss:20b', contextWindow: 131072, price: { input: 0, output: 0 } },
    { id: 'gpt-oss:120b', contextWindow: 131072, price: { input: 0, output: 0 } },
    { id: 'gemma4:31b', contextWindow: 262144, price: { input: 0, output: 0 } },
    { id: 'nemotron-3-nano:30b', contextWindow: 1048576, price: { input: 0, output: 0 } },
    { id: 'nomic-embed-text', type: 'embedding', price: { input: 0 } },
  ],
}
