"""What commands and buttons may ask for by naming its type: lightbulb hands it to them."""

import lightbulb

from cc_bot.stores import (
    AccessStore,
    CanvasStore,
    ChannelModelStore,
    ChannelStore,
    LimitStore,
    MemoryHistoryStore,
    MemoryPinStore,
    MemoryRemovalStore,
    MemoryStore,
    MemoryTransferStore,
    ProposalStore,
    ScheduleStore,
    SessionStore,
    SettingsStore,
    Stores,
    SummaryStore,
    TurnLedger,
)


def provide_stores(client: lightbulb.Client, stores: Stores) -> None:
    """All stores together, and those that are asked for one by one."""
    registry = client.di.registry_for(lightbulb.di.Contexts.DEFAULT)
    registry.register_value(Stores, stores)
    registry.register_value(SessionStore, stores.sessions)
    registry.register_value(MemoryStore, stores.memories)
    registry.register_value(MemoryHistoryStore, stores.memory_history)
    registry.register_value(MemoryTransferStore, stores.memory_transfer)
    registry.register_value(MemoryRemovalStore, stores.memory_removal)
    registry.register_value(MemoryPinStore, stores.memory_pins)
    registry.register_value(SettingsStore, stores.settings)
    registry.register_value(SummaryStore, stores.summaries)
    registry.register_value(ChannelStore, stores.channels)
    registry.register_value(CanvasStore, stores.canvases)
    registry.register_value(ScheduleStore, stores.schedules)
    registry.register_value(ProposalStore, stores.proposals)
    registry.register_value(TurnLedger, stores.ledger)
    registry.register_value(AccessStore, stores.access)
    registry.register_value(ChannelModelStore, stores.channel_models)
    registry.register_value(LimitStore, stores.limits)
