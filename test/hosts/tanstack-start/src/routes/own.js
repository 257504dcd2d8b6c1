import { createFileRoute } from '@tanstack/react-router'

export const Route = createFileRoute('/own')({
  server: { handlers: { POST: async ({ request }) => Response.json(await request.json()) } },
})
