// The hooks of yamo-mcp for OpenCode. `yamo-mcp install opencode` writes this file with the three constants below; by hand,
// copy it to ~/.config/opencode/plugins/ and set them.
//
// What `yamo-mcp hook` prints is added to a person's message, marked as memory. Whatever goes wrong, OpenCode continues
// as if there were no plugin; `yamo-mcp doctor` shows the reason.
import { spawn, spawnSync } from "node:child_process"

const program = "yamo-mcp"
const flags = ["--connection", "dm"]
const environment = {}

const limit = 10_000 // milliseconds
const kept = 20_000 // characters of an answer that are kept for the log

function command(event, fields) {
  return [
    [...["hook", event, "--host", "opencode"], ...flags],
    { env: { ...process.env, ...environment }, stdio: ["pipe", "pipe", "ignore"] },
    JSON.stringify({ hook_event_name: event, ...fields }),
  ]
}

// ask runs a hook and returns what the model should see, "" for nothing.
function ask(event, fields) {
  return new Promise((resolve) => {
    try {
      const [args, options, input] = command(event, fields)
      const child = spawn(program, args, options)
      let output = ""
      const timer = setTimeout(() => child.kill(), limit)
      child.on("error", () => resolve(""))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (data) => (output += data))
      child.on("close", () => {
        clearTimeout(timer)
        try {
          resolve(output.trim() ? JSON.parse(output).context || "" : "")
        } catch {
          resolve("")
        }
      })
      child.stdin.end(input)
    } catch {
      resolve("")
    }
  })
}

// tell runs a hook to its end: `opencode run` exits right after a session is idle.
function tell(event, fields) {
  try {
    const [args, options, input] = command(event, fields)
    spawnSync(program, args, { ...options, input, timeout: limit })
  } catch {}
}

export const Yamo = async ({ directory }) => {
  const started = new Map() // session → what begins with its next message: startup, compact
  const subagents = new Set() // sessions that a person does not talk to
  const roles = new Map() // message → who said it
  const answers = new Map() // session → text parts of the agent's last message, by their ids
  const fields = (session) => ({ session_id: session, cwd: directory })

  function forget(session) {
    started.delete(session)
    subagents.delete(session)
    answers.delete(session)
  }

  const events = {
    "session.created": ({ info }) => info.parentID && subagents.add(info.id),
    "session.updated": ({ info }) => info.parentID && subagents.add(info.id),
    "session.compacted": ({ sessionID }) => started.set(sessionID, "compact"),
    "session.deleted": ({ info }) => {
      if (started.has(info.id)) tell("SessionEnd", { ...fields(info.id), reason: "deleted" })
      forget(info.id)
    },
    "message.updated": ({ info }) => {
      if (roles.get(info.id) === info.role) return
      roles.set(info.id, info.role)
      if (info.role === "assistant") answers.set(info.sessionID, { id: info.id, parts: new Map() })
      if (roles.size > 1000) roles.delete(roles.keys().next().value)
    },
    "message.part.updated": ({ part }) => {
      const answer = answers.get(part.sessionID)
      if (part.type === "text" && answer?.id === part.messageID) answer.parts.set(part.id, part.text.slice(0, kept))
    },
    "session.idle": ({ sessionID }) => {
      const text = [...(answers.get(sessionID)?.parts.values() ?? [])].join("\n").trim()
      if (!text || subagents.has(sessionID)) return
      answers.delete(sessionID)
      tell("Stop", { ...fields(sessionID), last_assistant_message: text })
    },
  }

  return {
    event: async ({ event }) => {
      try {
        events[event.type]?.(event.properties)
      } catch {}
    },

    "chat.message": async ({ sessionID }, { message, parts }) => {
      try {
        if (subagents.has(sessionID)) return
        const add = (text) =>
          text &&
          parts.push({
            id: "prt_" + Date.now().toString(16) + Math.random().toString(16).slice(2).padEnd(14, "0").slice(0, 14),
            sessionID,
            messageID: message.id,
            type: "text",
            text,
            synthetic: true,
          })
        const prompt = parts
          .filter((part) => part.type === "text" && !part.synthetic)
          .map((part) => part.text)
          .join("\n")
        const source = started.has(sessionID) ? started.get(sessionID) : "startup"
        started.set(sessionID, "")
        if (source) add(await ask("SessionStart", { ...fields(sessionID), source }))
        if (prompt) add(await ask("UserPromptSubmit", { ...fields(sessionID), prompt }))
      } catch {}
    },

    "experimental.session.compacting": async ({ sessionID }) => {
      if (!subagents.has(sessionID)) tell("PreCompact", { ...fields(sessionID), trigger: "auto" })
    },
  }
}
