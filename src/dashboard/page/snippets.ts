/** What a snippet needs to know. */
interface SnippetFacts {
  /** With `/v1`. */
  url: string
  key: string
  model: string
}

/** Examples of how clients use a key. */
export const snippets: ReadonlyArray<{ name: string; code: (facts: SnippetFacts) => string }> = [
  {
    name: 'curl',
    code: ({ url, key, model }) =>
      `curl ${url}/chat/completions \\\n  -H 'authorization: Bearer ${key}' \\\n  -H 'content-type: application/json' \\\n  -d '{"model":"${model}","messages":[{"role":"user","content":"Hello"}]}'`,
  },
  {
    name: 'OpenAI, JavaScript',
    code: ({ url, key, model }) =>
      `import OpenAI from 'openai'\n\nconst client = new OpenAI({ baseURL: '${url}', apiKey: '${key}' })\nconst answer = await client.chat.completions.create({\n  model: '${model}',\n  messages: [{ role: 'user', content: 'Hello' }],\n})\nconsole.log(answer.choices[0].message.content)`,
  },
  {
    name: 'OpenAI, Python',
    code: ({ url, key, model }) =>
      `from openai import OpenAI\n\nclient = OpenAI(base_url="${url}", api_key="${key}")\nanswer = client.chat.completions.create(\n    model="${model}", messages=[{"role": "user", "content": "Hello"}]\n)\nprint(answer.choices[0].message.content)`,
  },
  {
    name: 'Anthropic',
    code: ({ url, key, model }) =>
      `import Anthropic from '@anthropic-ai/sdk'\n\nconst client = new Anthropic({ baseURL: '${rootOf(url)}', apiKey: '${key}' })\nconst answer = await client.messages.create({\n  model: '${model}',\n  max_tokens: 1024,\n  messages: [{ role: 'user', content: 'Hello' }],\n})`,
  },
  {
    name: 'Google',
    code: ({ url, key, model }) =>
      `import { GoogleGenAI } from '@google/genai'\n\nconst client = new GoogleGenAI({ apiKey: '${key}', httpOptions: { baseUrl: '${rootOf(url)}' } })\nconst answer = await client.models.generateContent({ model: '${model}', contents: 'Hello' })`,
  },
  {
    name: 'Claude Code',
    code: ({ url, key, model }) =>
      `export ANTHROPIC_BASE_URL=${rootOf(url)}\nexport ANTHROPIC_AUTH_TOKEN=${key}\nexport ANTHROPIC_MODEL=${model}\nclaude`,
  },
  {
    name: 'Codex',
    code: ({ url, key, model }) =>
      `# ~/.codex/config.toml\nmodel = "${model}"\nmodel_provider = "signalbox"\n\n[model_providers.signalbox]\nname = "Signalbox"\nbase_url = "${url}"\nenv_key = "SIGNALBOX_KEY"\nwire_api = "responses"\n\n# then: export SIGNALBOX_KEY=${key}`,
  },
]

const rootOf = (url: string) => url.replace('/v1', '')
