"""One file a rule. ``ALL_CHECKS`` lists them; a conflict goes to the first that claims it."""

from ptxlint.checks.base import Check
from ptxlint.checks.ptx101_missing_proxy_fence_write_read import MissingProxyFenceWriteRead
from ptxlint.checks.ptx102_missing_proxy_fence_read_write import MissingProxyFenceReadWrite
from ptxlint.checks.ptx103_missing_proxy_fence_write_write import MissingProxyFenceWriteWrite
from ptxlint.checks.ptx104_missing_proxy_fence_cp_async import MissingProxyFenceCpAsync
from ptxlint.checks.ptx105_missing_proxy_fence_global import MissingProxyFenceGlobal
from ptxlint.checks.ptx110_missing_tensormap_fence import MissingTensormapFence
from ptxlint.checks.ptx111_tensormap_updated_in_flight import TensormapUpdatedInFlight
from ptxlint.checks.ptx201_wait_group_too_weak import WaitGroupTooWeak
from ptxlint.checks.ptx202_bulk_source_overwritten import BulkSourceOverwritten
from ptxlint.checks.ptx203_uncommitted_bulk_group import UncommittedBulkGroup
from ptxlint.checks.ptx204_group_wait_by_non_issuer import GroupWaitByNonIssuer
from ptxlint.checks.ptx205_read_wait_before_destination_use import ReadWaitBeforeDestinationUse
from ptxlint.checks.ptx206_bulk_store_pending_at_exit import BulkStorePendingAtExit
from ptxlint.checks.ptx207_wrong_group_family import WrongGroupFamily
from ptxlint.checks.ptx208_unordered_async_operations import UnorderedAsyncOperations
from ptxlint.checks.ptx301_read_before_completion import ReadBeforeCompletion
from ptxlint.checks.ptx302_stage_overwritten_before_release import StageOverwrittenBeforeRelease
from ptxlint.checks.ptx303_stage_released_too_early import StageReleasedTooEarly
from ptxlint.checks.ptx304_phase_parity_mismatch import PhaseParityMismatch
from ptxlint.checks.ptx305_expect_tx_mismatch import ExpectTxMismatch
from ptxlint.checks.ptx306_wait_result_ignored import WaitResultIgnored
from ptxlint.checks.ptx307_mbarrier_init_not_published import MbarrierInitNotPublished
from ptxlint.checks.ptx308_mbarrier_memory_reuse import MbarrierMemoryReuse
from ptxlint.checks.ptx309_elected_publish_without_warp_sync import ElectedPublishWithoutWarpSync
from ptxlint.checks.ptx310_expect_tx_after_completion import ExpectTxAfterCompletion
from ptxlint.checks.ptx311_relaxed_wait_as_acquire import RelaxedWaitAsAcquire
from ptxlint.checks.ptx312_arrival_count_mismatch import ArrivalCountMismatch
from ptxlint.checks.ptx401_read_before_cp_async_wait import ReadBeforeCpAsyncWait
from ptxlint.checks.ptx402_cp_async_mbarrier_count import CpAsyncMbarrierCount
from ptxlint.checks.ptx403_overlapping_copies_in_group import OverlappingCopiesInGroup
from ptxlint.checks.ptx501_wgmma_operand_released_early import WgmmaOperandReleasedEarly
from ptxlint.checks.ptx502_wgmma_missing_fence import WgmmaMissingFence
from ptxlint.checks.ptx503_wgmma_accumulator_read_early import WgmmaAccumulatorReadEarly
from ptxlint.checks.ptx511_tcgen05_result_without_commit import Tcgen05ResultWithoutCommit
from ptxlint.checks.ptx512_tcgen05_load_not_waited import Tcgen05LoadNotWaited
from ptxlint.checks.ptx513_tcgen05_store_not_waited import Tcgen05StoreNotWaited
from ptxlint.checks.ptx514_tcgen05_missing_thread_fence import Tcgen05MissingThreadFence
from ptxlint.checks.ptx515_tensor_memory_lifecycle import TensorMemoryLifecycle
from ptxlint.checks.ptx516_tcgen05_operand_released_early import Tcgen05OperandReleasedEarly
from ptxlint.checks.ptx601_remote_arrive_scope_cta import RemoteArriveScopeCta
from ptxlint.checks.ptx602_cluster_peer_exits_early import ClusterPeerExitsEarly
from ptxlint.checks.ptx603_cluster_access_before_start import ClusterAccessBeforeStart
from ptxlint.checks.ptx604_multicast_release_not_from_all import MulticastReleaseNotFromAll
from ptxlint.checks.ptx605_relaxed_cluster_arrive_without_fence import RelaxedClusterArriveWithoutFence
from ptxlint.checks.ptx606_access_between_cluster_arrive_and_wait import AccessBetweenClusterArriveAndWait
from ptxlint.checks.ptx607_dsmem_source_reuse import DsmemSourceReuse
from ptxlint.checks.ptx608_issuer_history_not_published import IssuerHistoryNotPublished
from ptxlint.checks.ptx609_st_async_own_cta import StAsyncOwnCta
from ptxlint.checks.ptx701_bar_arrive_as_acquire import BarArriveAsAcquire
from ptxlint.checks.ptx702_aligned_collective_in_divergent_code import AlignedCollectiveInDivergentCode
from ptxlint.checks.ptx703_griddepcontrol_order import GriddepcontrolOrder
from ptxlint.checks.ptx704_clc_response_reuse import ClcResponseReuse
from ptxlint.checks.ptx705_mixed_proxy_atomics import MixedProxyAtomics
from ptxlint.checks.ptx706_noncoherent_load_of_async_data import NoncoherentLoadOfAsyncData
from ptxlint.checks.ptx801_bulk_copy_misaligned import BulkCopyMisaligned
from ptxlint.checks.ptx901_redundant_proxy_fence import RedundantProxyFence

# In the order in which they may claim a conflict: the special before the general.
ALL_CHECKS: tuple[Check, ...] = (
    DsmemSourceReuse(),
    ClcResponseReuse(),
    WaitResultIgnored(),
    UncommittedBulkGroup(),
    WrongGroupFamily(),
    ReadBeforeCpAsyncWait(),
    GroupWaitByNonIssuer(),
    WaitGroupTooWeak(),
    BulkSourceOverwritten(),
    BulkStorePendingAtExit(),
    WgmmaOperandReleasedEarly(),
    WgmmaMissingFence(),
    WgmmaAccumulatorReadEarly(),
    Tcgen05OperandReleasedEarly(),
    Tcgen05ResultWithoutCommit(),
    Tcgen05LoadNotWaited(),
    Tcgen05StoreNotWaited(),
    Tcgen05MissingThreadFence(),
    TensorMemoryLifecycle(),
    RelaxedWaitAsAcquire(),
    ReadBeforeCompletion(),
    PhaseParityMismatch(),
    StageReleasedTooEarly(),
    StageOverwrittenBeforeRelease(),
    MissingProxyFenceCpAsync(),
    MissingProxyFenceWriteRead(),
    MissingProxyFenceReadWrite(),
    MissingProxyFenceWriteWrite(),
    ElectedPublishWithoutWarpSync(),
    UnorderedAsyncOperations(),
    ExpectTxMismatch(),
    MbarrierInitNotPublished(),
    MbarrierMemoryReuse(),
    ExpectTxAfterCompletion(),
    ArrivalCountMismatch(),
    CpAsyncMbarrierCount(),
    OverlappingCopiesInGroup(),
    BulkCopyMisaligned(),
    ReadWaitBeforeDestinationUse(),
    MissingProxyFenceGlobal(),
    MissingTensormapFence(),
    TensormapUpdatedInFlight(),
    MixedProxyAtomics(),
    NoncoherentLoadOfAsyncData(),
    RemoteArriveScopeCta(),
    ClusterPeerExitsEarly(),
    ClusterAccessBeforeStart(),
    MulticastReleaseNotFromAll(),
    RelaxedClusterArriveWithoutFence(),
    AccessBetweenClusterArriveAndWait(),
    IssuerHistoryNotPublished(),
    StAsyncOwnCta(),
    BarArriveAsAcquire(),
    AlignedCollectiveInDivergentCode(),
    GriddepcontrolOrder(),
    RedundantProxyFence(),
)
