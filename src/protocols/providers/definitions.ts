import type { CatalogProvider } from '../../types.ts'

/** A provider without its models, which come from catalog.data.ts and catalog.extra.ts. */
export type ProviderDefinition = Omit<CatalogProvider, 'models'>

/** Cloud platforms whose base URLs depend on the user's account. */
const clouds: Record<string, ProviderDefinition> = {
  azure: {
    name: 'Azure OpenAI',
    docsUrl: 'https://learn.microsoft.com/azure/foundry/openai/latest',
    cloud: 'azure',
  },
  bedrock: {
    name: 'AWS Bedrock',
    docsUrl: 'https://docs.aws.amazon.com/bedrock/latest/userguide/models-supported.html',
    format: 'bedrock-converse',
    cloud: 'bedrock',
    serviceKinds: ['llm', 'rerank'],
  },
  vertex: {
    name: 'Google Vertex AI',
    docsUrl: 'https://docs.cloud.google.com/vertex-ai/generative-ai/docs/models',
    format: 'gemini',
    formats: {
      'claude-': 'anthropic-messages',
      'deepseek-ai/': 'openai-chat',
      'meta/': 'openai-chat',
      'minimaxai/': 'openai-chat',
      'moonshotai/': 'openai-chat',
      'openai/': 'openai-chat',
      'qwen/': 'openai-chat',
      'xai/': 'openai-chat',
      'zai-org/': 'openai-chat',
    },
    cloud: 'vertex',
  },
}

/** Cloud platforms that serve the models of many vendors. */
const hosts: Record<string, ProviderDefinition> = {
  openrouter: {
    alias: 'or',
    name: 'OpenRouter',
    docsUrl: 'https://openrouter.ai/models',
    baseUrl: 'https://openrouter.ai/api/v1',
    serviceKinds: ['llm', 'rerank'],
  },
  vercel: {
    name: 'Vercel AI Gateway',
    docsUrl: 'https://vercel.com/docs/ai-gateway',
    baseUrl: 'https://ai-gateway.vercel.sh/v1',
  },
  groq: {
    name: 'Groq',
    docsUrl: 'https://console.groq.com/docs/models',
    baseUrl: 'https://api.groq.com/openai/v1',
    serviceKinds: ['llm', 'tts', 'stt'],
  },
  cerebras: {
    name: 'Cerebras',
    docsUrl: 'https://inference-docs.cerebras.ai/models/overview',
    baseUrl: 'https://api.cerebras.ai/v1',
  },
  sambanova: {
    name: 'SambaNova',
    docsUrl: 'https://docs.sambanova.ai/docs/en/models/sambacloud-models',
    baseUrl: 'https://api.sambanova.ai/v1',
  },
  together: {
    name: 'Together AI',
    docsUrl: 'https://docs.together.ai/docs/serverless-models',
    baseUrl: 'https://api.together.ai/v1',
    serviceKinds: ['llm', 'image', 'rerank'],
  },
  fireworks: {
    name: 'Fireworks AI',
    docsUrl: 'https://fireworks.ai/models',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
    serviceKinds: ['llm', 'image'],
  },
  bfl: {
    name: 'Black Forest Labs',
    docsUrl: 'https://docs.bfl.ml',
    baseUrl: 'https://api.bfl.ai/v1',
    serviceKinds: ['image'],
  },
  deepinfra: {
    name: 'DeepInfra',
    docsUrl: 'https://deepinfra.com/models',
    baseUrl: 'https://api.deepinfra.com/v1/openai',
  },
  huggingface: {
    alias: 'hf',
    name: 'Hugging Face Inference Providers',
    docsUrl: 'https://huggingface.co/docs/inference-providers',
    baseUrl: 'https://router.huggingface.co/v1',
  },
  'nvidia-nim': {
    alias: 'nim',
    name: 'NVIDIA NIM',
    docsUrl: 'https://docs.api.nvidia.com/nim/',
    baseUrl: 'https://integrate.api.nvidia.com/v1',
  },
  nebius: {
    name: 'Nebius Token Factory',
    docsUrl: 'https://docs.tokenfactory.nebius.com/',
    baseUrl: 'https://api.tokenfactory.nebius.com/v1',
    serviceKinds: ['llm', 'embedding'],
  },
  novita: {
    name: 'Novita AI',
    docsUrl: 'https://novita.ai/docs/guides/introduction',
    baseUrl: 'https://api.novita.ai/openai/v1',
    serviceKinds: ['llm', 'imageToText'],
  },
  siliconflow: {
    name: 'SiliconFlow',
    docsUrl: 'https://cloud.siliconflow.com/models',
    baseUrl: 'https://api.siliconflow.com/v1',
  },
  baseten: {
    name: 'Baseten',
    docsUrl: 'https://docs.baseten.co/inference/model-apis/overview',
    baseUrl: 'https://inference.baseten.co/v1',
  },
  scaleway: {
    alias: 'scw',
    name: 'Scaleway',
    docsUrl: 'https://www.scaleway.com/en/docs/generative-apis/',
    baseUrl: 'https://api.scaleway.ai/v1',
    serviceKinds: ['llm', 'stt', 'embedding'],
  },
}

/** Vendors that serve their own models. */
const vendors: Record<string, ProviderDefinition> = {
  openai: {
    name: 'OpenAI',
    docsUrl: 'https://developers.openai.com/api/docs/models',
    baseUrl: 'https://api.openai.com/v1',
    alsoSpeaks: ['openai-responses'],
    serviceKinds: ['llm', 'image', 'tts', 'stt', 'embedding', 'moderation'],
  },
  anthropic: {
    name: 'Anthropic',
    docsUrl: 'https://platform.claude.com/docs/en/about-claude/models/overview',
    baseUrl: 'https://api.anthropic.com/v1',
    format: 'anthropic-messages',
  },
  google: {
    alias: 'gemini',
    name: 'Google',
    docsUrl: 'https://ai.google.dev/gemini-api/docs/models',
    baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    format: 'gemini',
    serviceKinds: ['llm', 'image', 'embedding'],
  },
  mistral: {
    name: 'Mistral',
    docsUrl: 'https://docs.mistral.ai/getting-started/models/',
    baseUrl: 'https://api.mistral.ai/v1',
    serviceKinds: ['llm', 'tts', 'stt', 'embedding', 'moderation'],
  },
  deepseek: {
    name: 'DeepSeek',
    docsUrl: 'https://api-docs.deepseek.com/quick_start/pricing',
    baseUrl: 'https://api.deepseek.com',
  },
  xai: {
    name: 'xAI',
    docsUrl: 'https://docs.x.ai/docs/models',
    baseUrl: 'https://api.x.ai/v1',
    alsoSpeaks: ['openai-responses'],
    serviceKinds: ['llm', 'image'],
  },
  cohere: {
    name: 'Cohere',
    docsUrl: 'https://docs.cohere.com/docs/compatibility-api',
    baseUrl: 'https://api.cohere.ai/compatibility/v1',
    serviceKinds: ['llm', 'embedding', 'rerank'],
  },
  'perplexity-agent': {
    alias: 'pplx',
    name: 'Perplexity',
    docsUrl: 'https://docs.perplexity.ai/docs/agent-api/models',
    // Perplexity shut down chat completions on 2026-09-27; its Agent API serves `POST /v1/responses`.
    baseUrl: 'https://api.perplexity.ai/v1',
    format: 'openai-responses',
    serviceKinds: ['llm', 'webSearch'],
    searchConfig: { baseUrl: 'https://api.perplexity.ai', price: { search: 0.005, page: 0 } },
  },
  moonshot: {
    alias: 'kimi',
    name: 'Moonshot AI',
    docsUrl: 'https://platform.moonshot.ai/docs/api/chat',
    baseUrl: 'https://api.moonshot.ai/v1',
  },
  zai: {
    alias: 'glm',
    name: 'Z.ai',
    docsUrl: 'https://docs.z.ai/guides/overview/pricing',
    baseUrl: 'https://api.z.ai/api/paas/v4',
  },
  alibaba: {
    alias: 'qwen',
    name: 'Alibaba Cloud Model Studio',
    docsUrl: 'https://www.alibabacloud.com/help/en/model-studio/models',
    baseUrl: 'https://dashscope-intl.aliyuncs.com/compatible-mode/v1',
    serviceKinds: ['llm', 'imageToText'],
  },
  minimax: {
    name: 'MiniMax',
    docsUrl: 'https://platform.minimax.io/docs/guides/quickstart',
    baseUrl: 'https://api.minimax.io/v1',
  },
  meta: {
    name: 'Meta',
    docsUrl: 'https://dev.meta.ai/docs/models',
    baseUrl: 'https://api.meta.ai/v1',
  },
  xiaomi: {
    alias: 'mimo',
    name: 'Xiaomi MiMo',
    docsUrl: 'https://platform.xiaomimimo.com/#/docs',
    baseUrl: 'https://api.xiaomimimo.com/v1',
  },
  stepfun: {
    name: 'StepFun',
    docsUrl: 'https://platform.stepfun.ai/docs/en/overview/concept',
    baseUrl: 'https://api.stepfun.ai/v1',
  },
  inception: {
    name: 'Inception',
    docsUrl: 'https://docs.inceptionlabs.ai/get-started/models',
    baseUrl: 'https://api.inceptionlabs.ai/v1',
  },
  voyage: {
    name: 'Voyage AI',
    docsUrl: 'https://docs.voyageai.com/docs/embeddings',
    baseUrl: 'https://api.voyageai.com/v1',
    serviceKinds: ['embedding', 'rerank'],
  },
  elevenlabs: {
    name: 'ElevenLabs',
    docsUrl: 'https://elevenlabs.io/docs/api-reference/introduction',
    baseUrl: 'https://api.elevenlabs.io/v1',
    serviceKinds: ['tts', 'stt'],
  },
  deepgram: {
    name: 'Deepgram',
    docsUrl: 'https://developers.deepgram.com/reference',
    baseUrl: 'https://api.deepgram.com/v1',
    serviceKinds: ['tts', 'stt'],
  },
}

/*
 * How to reach each provider. Maintained by hand, from the vendors' documentation and https://models.dev, autumn 2026.
 * * An ID, alias, or catalog alias belongs to only one provider. A provider's model IDs must not start with any of its names, because the listing
 * removes a leading `<name>/` from model IDs (src/rules.md, Listing with connections). Therefore, NVIDIA (`nvidia/…` models) is `nvidia-nim` here,
 * and Perplexity (`perplexity/sonar`) is `perplexity-agent`.
 * * `ttsConfig` and `embeddingConfig` are unused: those models have a `type` in the catalog that lists them, so a connection's `enabledModels` can
 * narrow them. It can't do that for the models in the two config lists.
 */

/** Servers on the user's own machine. They need no key, and serve the models that the user has loaded. */
const localServers: Record<string, ProviderDefinition> = {
  ollama: {
    name: 'Ollama',
    docsUrl: 'https://docs.ollama.com/openai',
    baseUrl: 'http://localhost:11434/v1',
    serviceKinds: ['llm', 'embedding'],
  },
  lmstudio: {
    alias: 'lms',
    name: 'LM Studio',
    docsUrl: 'https://lmstudio.ai/docs/developer/openai-compat',
    baseUrl: 'http://localhost:1234/v1',
    serviceKinds: ['llm', 'embedding'],
  },
}

/*
 * Web search and page fetching. `searchConfig` and `fetchConfig` contain the base URL and the prices in USD: per search, per page, and per credit if
 * the vendor reports credits. The price of a search covers ten results. Pages read as part of a search are charged separately.
 * * Prices: Perplexity https://docs.perplexity.ai/getting-started/pricing, October 2026; Brave https://api-dashboard.search.brave.com/app/plans,
 * September 2026; Tavily https://docs.tavily.com/documentation/api-credits, pay as you go: 1 credit per search, 2 per advanced search, 1 per five
 * pages; Firecrawl https://docs.firecrawl.dev/billing: 2 credits per ten results, 1 per page. The prices of those credits, of Exa, and of Serper (1
 * credit per ten results): https://github.com/decolua/9router, April 2026. Jina charges by tokens, at an unknown price.
 */
const webServices: Record<string, ProviderDefinition> = {
  tavily: {
    name: 'Tavily',
    docsUrl: 'https://docs.tavily.com/documentation/api-reference/introduction',
    serviceKinds: ['webSearch', 'webFetch'],
    searchConfig: { baseUrl: 'https://api.tavily.com', price: { search: 0.008, page: 0, credit: 0.008 } },
    fetchConfig: { baseUrl: 'https://api.tavily.com', price: { page: 0.008, credit: 0.008 } },
  },
  exa: {
    name: 'Exa',
    docsUrl: 'https://docs.exa.ai/reference/search',
    auth: 'x-api-key',
    serviceKinds: ['webSearch', 'webFetch'],
    searchConfig: { baseUrl: 'https://api.exa.ai', price: { search: 0.007, page: 0.001 } },
    fetchConfig: { baseUrl: 'https://api.exa.ai', price: { page: 0.001 } },
  },
  brave: {
    name: 'Brave Search',
    docsUrl: 'https://api-dashboard.search.brave.com/app/documentation',
    serviceKinds: ['webSearch'],
    searchConfig: {
      baseUrl: 'https://api.search.brave.com/res/v1',
      keyHeader: 'X-Subscription-Token',
      price: { search: 0.005, page: 0 },
    },
  },
  firecrawl: {
    name: 'Firecrawl',
    docsUrl: 'https://docs.firecrawl.dev/api-reference/introduction',
    serviceKinds: ['webSearch', 'webFetch'],
    searchConfig: { baseUrl: 'https://api.firecrawl.dev/v2', price: { search: 0.004, page: 0.002, credit: 0.002 } },
    fetchConfig: { baseUrl: 'https://api.firecrawl.dev/v2', price: { page: 0.002, credit: 0.002 } },
  },
  serper: {
    name: 'Serper',
    docsUrl: 'https://serper.dev',
    auth: 'x-api-key',
    serviceKinds: ['webSearch'],
    searchConfig: { baseUrl: 'https://google.serper.dev', price: { search: 0.001, page: 0, credit: 0.001 } },
  },
  searxng: {
    name: 'SearXNG',
    docsUrl: 'https://docs.searxng.org/dev/search_api.html',
    serviceKinds: ['webSearch'],
    searchConfig: { baseUrl: 'http://localhost:8080', price: { search: 0, page: 0 } },
  },
  jina: {
    name: 'Jina AI',
    docsUrl: 'https://docs.jina.ai/',
    baseUrl: 'https://api.jina.ai/v1',
    serviceKinds: ['embedding', 'rerank', 'webSearch', 'webFetch'],
    searchConfig: { baseUrl: 'https://s.jina.ai' },
    fetchConfig: { baseUrl: 'https://r.jina.ai' },
  },
}

/** All built-in providers by their IDs. */
export const definitions: Readonly<Record<string, ProviderDefinition>> = {
  ...vendors,
  ...hosts,
  ...clouds,
  ...localServers,
  ...webServices,
}
