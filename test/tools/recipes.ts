import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'

/** The setup that connects a tool to a gateway, as in `docs/src/content/docs/start/coding-tools.md`. */
export interface Recipe {
  /** File contents by path, relative to the user's home folder. */
  files: ReadonlyMap<string, string>
  /** Shell commands. */
  script: string
}

const FILE = /^`~\/([^`\n]+)`:\n\n```\w+\n([\s\S]*?)^```$/gm
const SCRIPT = /^```sh\n([\s\S]*?)^```$/gm

/** Reads the recipes, by tool name. */
export async function readRecipes(): Promise<Map<string, Recipe>> {
  const text = await readFile(new URL('../../docs/src/content/docs/start/coding-tools.md', import.meta.url), 'utf8')
  const sections = text.split(/^## /m).slice(1)
  return new Map(
    sections.map((section): [string, Recipe] => {
      const [title = ''] = section.split('\n', 1)
      const files = new Map([...section.matchAll(FILE)].map(([, path = '', content = '']) => [path, content]))
      return [title, { files, script: [...section.matchAll(SCRIPT)].map(([, code = '']) => code).join('') }]
    }),
  )
}

const { platform, arch } = process

/** The path of each command's program below `node_modules`: a Node script, or the binary in a platform-specific package. */
const programs: Readonly<Record<string, readonly string[]>> = {
  claude: [`@anthropic-ai/claude-code-${platform}-${arch}/claude`],
  codex: ['@openai/codex/bin/codex.js'],
  gemini: ['@google/gemini-cli/bundle/gemini.js'],
  qwen: ['@qwen-code/qwen-code/cli-entry.js'],
  opencode: [`opencode-${platform}-${arch}-baseline/bin/opencode`, `opencode-${platform}-${arch}/bin/opencode`],
  cline: [`@cline/cli-${platform}-${arch}/bin/cline`],
  cn: ['@continuedev/cli/dist/cn.js'],
}

/** Returns the command line that starts a tool, or `undefined` if the tool isn't installed. */
export function getProgram(command: string): string[] | undefined {
  const paths = (programs[command] ?? []).map((path) => fileURLToPath(new URL(`node_modules/${path}`, import.meta.url)))
  const path = paths.find((path) => existsSync(path))
  if (path === undefined) return undefined
  return path.endsWith('.js') ? [process.execPath, path] : [path]
}
