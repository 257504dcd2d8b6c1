import type { ProviderDefinition } from './definition.ts'

/** Clouds that serve the models of many vendors. */
export const hosts: Record<string, ProviderDefinition> = {
  openrouter: {
    alias: 'or',
    name: 'OpenRouter',
    docsUrl: 'https://openrouter.ai/models',
    baseUrl: 'https://openrouter.ai/api/v1',
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
  },
  fireworks: {
    name: 'Fireworks AI',
    docsUrl: 'https://fireworks.ai/models',
    baseUrl: 'https://api.fireworks.ai/inference/v1',
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
