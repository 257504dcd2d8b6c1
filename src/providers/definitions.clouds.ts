import type { ProviderDefinition } from './definition.ts'

/** Clouds where one has a place of one's own: a connection's settings say where. */
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
}
