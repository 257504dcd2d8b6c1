import type { ProviderDefinition } from './definition.ts'

/** Vendors that serve models of their own. */
export const vendors: Record<string, ProviderDefinition> = {
  openai: {
    name: 'OpenAI',
    docsUrl: 'https://developers.openai.com/api/docs/models',
    baseUrl: 'https://api.openai.com/v1',
    alsoSpeaks: ['openai-responses'],
    serviceKinds: ['llm', 'image', 'tts', 'stt', 'embedding'],
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
    serviceKinds: ['llm', 'tts', 'stt', 'embedding'],
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
    serviceKinds: ['llm', 'embedding'],
  },
  'perplexity-agent': {
    alias: 'pplx',
    name: 'Perplexity',
    docsUrl: 'https://docs.perplexity.ai/docs/agent-api/models',
    // Its chat completions ended on 2026-09-27; the Agent API answers `POST /v1/responses`.
    baseUrl: 'https://api.perplexity.ai/v1',
    format: 'openai-responses',
    serviceKinds: ['llm', 'webSearch'],
    searchConfig: { baseUrl: 'https://api.perplexity.ai' },
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
    serviceKinds: ['embedding'],
  },
}
