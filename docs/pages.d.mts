/** The folder of the pages, from the root of the repository. */
export const PAGES: string
/** Reads the pages in the order of the sidebar. The front page, which has no section, comes first. */
export function readSitePages(): {
  name: string
  section: string
  title: string
  description: string
  order: number
  body: string
}[]
