import { posix } from 'node:path'

/** Documents that comments may cite. */
export interface Documents {
  /** Returns whether a file exists at this path, relative to the repository root. */
  exists(path: string): boolean
  /** The headings in `src/rules.md`. */
  headings: readonly string[]
}

/** Returns the headings in a Markdown text, except its title. */
export const getHeadings = (text: string): string[] =>
  Array.from(text.matchAll(/^## (.+)$/gm), ([, heading = '']) => heading)

/** Finds comments that cite a missing document or a missing heading in `src/rules.md`. Returns one line per citation. */
export function findBrokenCitations(files: ReadonlyMap<string, string>, { exists, headings }: Documents): string[] {
  return getComments(files).flatMap(({ path, line, comment }) => [
    ...Array.from(comment.matchAll(DOCUMENT), ([name]) => name)
      .filter((name) => !exists(name) && !exists(posix.join(posix.dirname(path), name)))
      .map((name) => `${path}:${line} cites ${name}, which is not in the repository`),
    ...citedRules(comment)
      .filter((rule) => !headings.some((heading) => rule.startsWith(heading)))
      .map((rule) => `${path}:${line} cites "${rule.slice(0, 40)}", which is no heading of src/rules.md`),
  ])
}

/** Returns the headings that no comment cites. */
export function findUncitedHeadings(files: ReadonlyMap<string, string>, headings: readonly string[]): string[] {
  const rules = getComments(files).flatMap(({ comment }) => citedRules(comment))
  return headings.filter((heading) => !rules.some((rule) => rule.startsWith(heading)))
}

/** Matches the path of a document, unless it is part of a URL. */
const DOCUMENT = /(?<![\w./:-])[\w./-]*\w\.md\b/g

/** For each citation, returns the text that follows the path of the rules and a comma. */
const citedRules = (comment: string): string[] => comment.split('src/rules.md, ').slice(1)

/** Matches block comments, line comments, and trailing comments. Consecutive lines count as one text. */
const COMMENT = /(?<=^|\s)\/\*[\s\S]*?\*\/|(?:^[ \t]*\/\/.*\n)+|(?<=\s)\/\/ .*$/gm

function getComments(files: ReadonlyMap<string, string>) {
  return [...files].flatMap(([path, text]) =>
    Array.from(text.matchAll(COMMENT), ({ 0: comment, index }) => ({
      path,
      line: text.slice(0, index).split('\n').length,
      comment: comment.replace(/\n[ \t]*(?:\*|\/\/)?[ \t]*/g, ' '),
    })),
  )
}
