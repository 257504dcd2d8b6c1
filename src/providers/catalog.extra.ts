import type { CatalogModel } from '../types.ts'

/*
 * Models that catalog.data.ts lacks because its source does not list them. They are maintained by hand, with the source of each fact. Once
 * the source of catalog.data.ts lists an id, its entry replaces the one here, and refreshing reports that.
 */

/** Models that are maintained by hand, by provider id. */
export const extraModels: Readonly<Record<string, readonly CatalogModel[]>> = {
  // Ids: https://developers.openai.com/api/docs/models/all, and still served according to
  // https://endoflife.date/openai-api-models, 2026-09-22. The price: https://github.com/pydantic/genai-prices,
  // 2026-08-21. The others are billed by the minute, the character or the image.
  openai: [
    { id: 'gpt-image-2.5-sunburst', type: 'image' },
    { id: 'gpt-image-2.5-flare', type: 'image' },
    { id: 'gpt-4o-mini-tts', type: 'tts', price: { input: 0.6, output: 12 } },
    { id: 'tts-1', type: 'tts' },
    { id: 'tts-1-hd', type: 'tts' },
    { id: 'gpt-transcribe', type: 'stt' },
    { id: 'gpt-4o-transcribe', type: 'stt' },
    { id: 'gpt-4o-mini-transcribe', type: 'stt' },
    { id: 'whisper-1', type: 'stt' },
  ],
  // https://github.com/pydantic/genai-prices, 2026-08-21; context window: https://models.dev, 2026-09-30.
  cohere: [{ id: 'embed-v4.0', type: 'embedding', contextWindow: 128000, price: { input: 0.12 } }],
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
  // Context windows: https://docs.voyageai.com/docs/embeddings; prices: https://github.com/pydantic/genai-prices,
  // 2026-06-18.
  voyage: [
    { id: 'voyage-4-large', type: 'embedding', contextWindow: 32000, price: { input: 0.12 } },
    { id: 'voyage-4', type: 'embedding', contextWindow: 32000, price: { input: 0.06 } },
    { id: 'voyage-4-lite', type: 'embedding', contextWindow: 32000, price: { input: 0.02 } },
    { id: 'voyage-code-3', type: 'embedding', contextWindow: 32000, price: { input: 0.18 } },
    { id: 'voyage-finance-2', type: 'embedding', contextWindow: 32000, price: { input: 0.12 } },
    { id: 'voyage-law-2', type: 'embedding', contextWindow: 16000, price: { input: 0.12 } },
  ],
  // Context windows: https://jina.ai/models, February 2026, and
  // https://qdrant.tech/documentation/embeddings/jina-embeddings. Prices unknown.
  jina: [
    { id: 'jina-embeddings-v5-text-small', type: 'embedding', contextWindow: 32768 },
    { id: 'jina-embeddings-v5-text-nano', type: 'embedding', contextWindow: 8192 },
    { id: 'jina-embeddings-v4', type: 'embedding', contextWindow: 32768 },
    { id: 'jina-embeddings-v3', type: 'embedding', contextWindow: 8192 },
  ],
  // A few of https://ollama.com/library, free because they run at home; context windows: https://models.dev,
  // 2026-09-30.
  ollama: [
    { id: 'gpt-oss:20b', contextWindow: 131072, price: { input: 0, output: 0 } },
    { id: 'gpt-oss:120b', contextWindow: 131072, price: { input: 0, output: 0 } },
    { id: 'gemma4:31b', contextWindow: 262144, price: { input: 0, output: 0 } },
    { id: 'nemotron-3-nano:30b', contextWindow: 1048576, price: { input: 0, output: 0 } },
    { id: 'nomic-embed-text', type: 'embedding', price: { input: 0 } },
  ],
}
