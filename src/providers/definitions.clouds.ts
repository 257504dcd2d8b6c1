import type { ProviderDefinition } from './definition.ts'

/** Clouds whose addresses depend on the user's account. */
export const clouds: Record<string, ProviderDefinition> = {
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
