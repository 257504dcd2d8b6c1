import type { ProviderDefinition } from './definition.ts'
import { clouds } from './definitions.clouds.ts'
import { hosts } from './definitions.hosts.ts'
import { vendors } from './definitions.vendors.ts'

/*
 * How each provider is reached, kept by hand: from the vendors' documentation and https://models.dev, autumn 2026.
 *
 * An id, an alias and a catalog alias belong to one provider alone. None of them may be what the provider's own model
 * ids start with: the listing takes a leading `<name>/` off a model id (spec.md, Listing rules 4). That is why NVIDIA,
 * whose models are called `nvidia/…`, is `nvidia-nim` here, and Perplexity, with `perplexity/sonar`, is
 * `perplexity-agent`.
 *
 * `ttsConfig` and `embeddingConfig` stay unused: those models have a `type` in the catalog and are listed by it, and a
 * connection's `enabledModels` can then narrow them, which it cannot for the two lists.
 */

/** Servers on the user's own machine. They ask for no key; what they serve is what the user has loaded. */
const local: Record<string, ProviderDefinition> = {
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
  },
}

/**
 * Web search and page fetching. `searchConfig` and `fetchConfig` say where, and how the key travels when it is not a
 * bearer token.
 */
const web: Record<string, ProviderDefinition> = {
  tavily: {
    name: 'Tavily',
    docsUrl: 'https://docs.tavily.com/documentation/api-reference/introduction',
    serviceKinds: ['webSearch', 'webFetch'],
    searchConfig: { baseUrl: 'https://api.tavily.com' },
    fetchConfig: { baseUrl: 'https://api.tavily.com' },
  },
  exa: {
    name: 'Exa',
    docsUrl: 'https://docs.exa.ai/reference/search',
    auth: 'x-api-key',
    serviceKinds: ['webSearch', 'webFetch'],
    searchConfig: { baseUrl: 'https://api.exa.ai' },
    fetchConfig: { baseUrl: 'https://api.exa.ai' },
  },
  brave: {
    name: 'Brave Search',
    docsUrl: 'https://api-dashboard.search.brave.com/app/documentation',
    serviceKinds: ['webSearch'],
    searchConfig: { baseUrl: 'https://api.search.brave.com/res/v1', keyHeader: 'X-Subscription-Token' },
  },
  firecrawl: {
    name: 'Firecrawl',
    docsUrl: 'https://docs.firecrawl.dev/api-reference/introduction',
    serviceKinds: ['webSearch', 'webFetch'],
    searchConfig: { baseUrl: 'https://api.firecrawl.dev/v2' },
    fetchConfig: { baseUrl: 'https://api.firecrawl.dev/v2' },
  },
  jina: {
    name: 'Jina AI',
    docsUrl: 'https://docs.jina.ai/',
    baseUrl: 'https://api.jina.ai/v1',
    serviceKinds: ['embedding', 'webSearch', 'webFetch'],
    searchConfig: { baseUrl: 'https://s.jina.ai' },
    fetchConfig: { baseUrl: 'https://r.jina.ai' },
  },
}

/** Every built-in provider by its id. */
export const definitions: Readonly<Record<string, ProviderDefinition>> = {
  ...vendors,
  ...hosts,
  ...clouds,
  ...local,
  ...web,
}
