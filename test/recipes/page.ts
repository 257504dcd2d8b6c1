import { readFile } from 'node:fs/promises'

export const PAGES = new URL('../../docs/src/content/docs/guides/recipes/', import.meta.url)

/** A page in `guides/recipes`. */
export interface Recipe {
  slug: string
  /** The code of each file, by path. The first line of a block is a comment with the file name, which stays in the code. */
  files: Map<string, string>
  /** The commands in each shell block, without installs, and without blocks marked as not run. */
  commands: string[]
  /** The packages that the page installs, without versions. */
  installs: string[]
}

const FENCE = /^(<!-- not run: .* -->\n\n)?```(\w+)\n([\s\S]*?)^```$/gm
const FILE_NAME = /^(?:\/\/|#|<!--) ([\w./[\]$+-]+\.\w+)(?: -->)?$/

export async function readRecipe(slug: string): Promise<Recipe> {
  const text = await readFile(new URL(`${slug}.md`, PAGES), 'utf8')
  const blocks = [...text.matchAll(FENCE)].map(([, note, language = '', code = '']) => ({ note, language, code }))
  const shell = blocks.filter(({ language }) => language === 'sh')
  const files = new Map<string, string>()
  for (const { language, code } of blocks) {
    const [, path] = FILE_NAME.exec(code.split('\n', 1)[0] ?? '') ?? []
    if (path !== undefined && files.has(path)) throw new Error(`${slug}.md has two blocks for ${path}`)
    if (path !== undefined) files.set(path, code)
    else if (language !== 'sh') throw new Error(`${slug}.md has a ${language} block without a file name`)
  }
  return {
    slug,
    files,
    commands: shell
      .filter(({ note }) => note === undefined)
      .map(({ code }) => code.replace(/^npm install .*\n/gm, ''))
      .filter((code) => code !== ''),
    installs: shell.flatMap(({ code }) =>
      [...code.matchAll(/^npm install (.*)$/gm)].flatMap(([, list = '']) =>
        list.replaceAll(/(?<=\w)@[\w.]+/g, '').split(/\s+/),
      ),
    ),
  }
}
