import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The folders of generated pages, which repeat the same words on every page. */
const GENERATED = ['reference/api', 'typescript']

/** An integration that ranks written pages above generated ones in the search. It must come before Starlight, which indexes the pages. */
export const search = {
  name: 'search',
  hooks: {
    'astro:build:done'({ dir }) {
      for (const folder of GENERATED) {
        const root = fileURLToPath(new URL(`${folder}/`, dir))
        for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
          if (!name.endsWith('.html')) continue
          const path = join(root, name)
          writeFileSync(path, lowerWeight(readFileSync(path, 'utf8')))
        }
      }
    },
  },
}

/** Lowers the weight of a page's words: https://pagefind.app/docs/weighting/ */
export const lowerWeight = (html) => html.replace('data-pagefind-body', '$& data-pagefind-weight="0.3"')
