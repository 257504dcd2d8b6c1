/** The major version of the provider packages for each AI SDK generation. */
const providers = { 5: 2, 6: 3, 7: 4 }

const own = { apiKey: 'x' }

/**
 * Opens an AI SDK generation with its providers. `send` requests text, `converse` uses a tool, and `fill` requests structured output, each as a
 * client of one format that calls `fetch`.
 */
export async function openSdk(generation) {
  globalThis.AI_SDK_LOG_WARNINGS = false // the SDK doesn't know this model
  const major = providers[generation]
  const [ai, anthropic, google, openai] = await Promise.all([
    import(`ai-${generation}`),
    import(`@ai-sdk/anthropic-${major}`),
    import(`@ai-sdk/google-${major}`),
    import(`@ai-sdk/openai-${major}`),
  ])
  const createGoogle = google.createGoogle ?? google.createGoogleGenerativeAI

  const models = {
    'openai-chat': (fetch) => openai.createOpenAI({ ...own, baseURL: 'http://gateway/v1', fetch }).chat,
    'openai-responses': (fetch) => openai.createOpenAI({ ...own, baseURL: 'http://gateway/v1', fetch }).responses,
    'anthropic-messages': (fetch) => anthropic.createAnthropic({ ...own, baseURL: 'http://gateway/v1', fetch }),
    gemini: (fetch) => createGoogle({ ...own, baseURL: 'http://gateway/v1beta', fetch }),
  }
  const modelOf = ({ client, fetch, model }) => models[client](fetch)(model)

  /** Returns the final result of a run, streamed or not. */
  async function run(asked, stream) {
    if (!stream) return ai.generateText(asked)
    const errors = []
    const streamed = ai.streamText({ ...asked, onError: ({ error }) => void errors.push(error) })
    const text = await streamed.text
    if (errors.length > 0) throw errors[0]
    return { text, steps: await streamed.steps }
  }

  return {
    async send({ prompt, stream, ...request }) {
      const { text } = await run({ model: modelOf(request), prompt, maxRetries: 0 }, stream)
      return text
    },

    /** `tool` contains a name, a description, and a schema. `execute` is called with the tool's input. */
    async converse({ prompt, stream, tool, execute, ...request }) {
      const { name, description, schema } = tool
      const tools = { [name]: ai.tool({ description, inputSchema: ai.jsonSchema(schema), execute }) }
      const stopWhen = ai.stepCountIs(4)
      const { text, steps } = await run({ model: modelOf(request), prompt, maxRetries: 0, tools, stopWhen }, stream)
      const { inputTokens, outputTokens } = steps.at(-1).usage
      return { text, inputTokens, outputTokens }
    },

    async fill({ prompt, stream, form, ...request }) {
      const asked = { model: modelOf(request), prompt, maxRetries: 0, schema: ai.jsonSchema(form) }
      if (!stream) return (await ai.generateObject(asked)).object
      const errors = []
      const streamed = ai.streamObject({ ...asked, onError: ({ error }) => void errors.push(error) })
      let object
      for await (object of streamed.partialObjectStream);
      if (errors.length > 0) throw errors[0]
      return object
    },
  }
}
